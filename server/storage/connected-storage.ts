import type { ShortEngine } from './engine.ts';
import { readTexts } from './operations/reads.ts';
import {
  claimTasks,
  completeTasks,
  failTask,
  nextTaskAt,
  recoverTasks,
  releaseTask,
} from './operations/tasks.ts';
import {
  embeddingBacklog,
  ensureModel,
  memoriesToEmbed,
  presentModel,
  storeVectors,
  usersToEmbed,
} from './operations/vectors.ts';
import type { ConnectedStorage } from './storage.ts';

/** The operations of the tasks thread and the model thread. */
export function createConnectedStorage(engine: ShortEngine): Omit<ConnectedStorage, 'close'> {
  return {
    readTexts: (tasks) => engine.readShort(readTexts, tasks),
    claimTasks: (claim) => engine.write(claimTasks, claim),
    completeTasks: (results) => engine.write(completeTasks, results),
    failTask: (failure) => engine.write(failTask, failure),
    releaseTask: (lease) => engine.write(releaseTask, lease),
    recoverTasks: (recovery) => engine.write(recoverTasks, recovery),
    nextTaskAt: () => engine.readShort(nextTaskAt, undefined),
    presentModel: () => engine.readShort(presentModel, undefined),
    ensureModel: (model) => engine.write(ensureModel, model),
    usersToEmbed: (query) => engine.readShort(usersToEmbed, query),
    memoriesToEmbed: (query) => engine.readShort(memoriesToEmbed, query),
    storeVectors: (stored) => engine.write(storeVectors, stored),
    embeddingBacklog: () => engine.readShort(embeddingBacklog, undefined),
  };
}
