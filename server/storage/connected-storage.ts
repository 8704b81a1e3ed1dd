import type { ShortEngine, ShortRead, WriteOperation } from './engine.ts';
import { readTexts } from './operations/reads.ts';
import {
  claimTasks,
  completeTasks,
  failTask,
  recoverTasks,
  releaseTask,
} from './operations/tasks.ts';
import {
  ensureModel,
  memoriesToEmbed,
  presentModel,
  storeVectors,
  usersToEmbed,
} from './operations/vectors.ts';

type Closable = { close(): Promise<void> };

/** The operations that the queue's worker needs. */
export type TaskStorage = ReturnType<typeof createTaskQueue> & Closable;

/** The operations of another thread's connection to the storage. */
export type ConnectedStorage = ReturnType<typeof createConnectedStorage> & Closable;

export function createConnectedStorage(engine: ShortEngine) {
  const { write, short } = callers(engine);
  return {
    ...createTaskQueue(engine),
    presentModel: short(presentModel),
    ensureModel: write(ensureModel),
    usersToEmbed: short(usersToEmbed),
    memoriesToEmbed: short(memoriesToEmbed),
    storeVectors: write(storeVectors),
  };
}

function createTaskQueue(engine: ShortEngine) {
  const { write, short } = callers(engine);
  return {
    readTexts: short(readTexts),
    claimTasks: write(claimTasks),
    completeTasks: write(completeTasks),
    failTask: write(failTask),
    releaseTask: write(releaseTask),
    recoverTasks: write(recoverTasks),
  };
}

/** A function that runs an operation. */
export type Call<Input, Result> = (input: Input) => Promise<Result>;

export function callers(engine: ShortEngine) {
  return {
    write<Input, Result>(operation: WriteOperation<Input, Result>): Call<Input, Result> {
      return (input) => engine.write(operation, input);
    },
    short<Input, Result>(operation: ShortRead<Input, Result>): Call<Input, Result> {
      return (input) => engine.readShort(operation, input);
    },
  };
}
