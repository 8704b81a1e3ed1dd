import type { ReadOperation, WriteOperation } from '../engine.ts';
import { eraseUser } from './erasure.ts';
import { acceptRecords } from './ingest.ts';
import { createKey, ensureProject, revokeKey, touchKeys } from './keys.ts';
import { exportMemories, listFiltered } from './lists.ts';
import { maintain } from './maintenance.ts';
import { deleteMemory, saveMemory, updateMemory } from './memories.ts';
import { listTasks, listUsers, measureMemories } from './project.ts';
import { getMemoryPart, getStatuses, taskQueueState } from './reads.ts';
import { searchMemories, storeNextSnapshot } from './search.ts';
import { storeSnapshot } from './snapshots.ts';
import { claimTasks, completeTasks, failTask, recoverTasks, releaseTask } from './tasks.ts';
import { importMemories } from './transfer.ts';
import { storeVectorPart } from './vector-parts.ts';
import { embeddingBacklog, ensureModel, storeVectors } from './vectors.ts';

/* The operations that another thread runs, by the names in the messages to that thread. */

export const writeOperations: ReadonlyMap<string, WriteOperation<unknown, unknown>> = byName([
  saveMemory,
  updateMemory,
  deleteMemory,
  eraseUser,
  importMemories,
  acceptRecords,
  claimTasks,
  completeTasks,
  failTask,
  releaseTask,
  recoverTasks,
  ensureModel,
  storeVectors,
  storeSnapshot,
  storeVectorPart,
  createKey,
  revokeKey,
  touchKeys,
  ensureProject,
  maintain,
]);

export const readOperations: ReadonlyMap<string, ReadOperation<unknown, unknown>> = byName([
  searchMemories,
  storeNextSnapshot,
  listFiltered,
  exportMemories,
  listUsers,
  listTasks,
  measureMemories,
  getMemoryPart,
  getStatuses,
  taskQueueState,
  embeddingBacklog,
]);

function byName<Operation extends { name: string }>(list: Operation[]): Map<string, Operation> {
  return new Map(list.map((operation) => [operation.name, operation]));
}
