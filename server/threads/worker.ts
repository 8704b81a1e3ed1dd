import { type Transferable, Worker } from 'node:worker_threads';

export type WorkerOptions = {
  name: string;
  /** The path of the thread's module, relative to the repository root. */
  module: string;
  data: unknown;
  transfer?: readonly Transferable[];
  /** Modules that are loaded first. */
  preload: readonly string[];
};

export function startWorker(options: WorkerOptions): Worker {
  const { name, module, data, transfer = [], preload } = options;
  const settings = {
    name,
    workerData: data,
    transferList: [...transfer],
    // Supported by Bun's Worker, but missing from Node's types. `smol` collects garbage before the
    // heap has grown by 32 MB, which the other threads could not use.
    preload: [...preload],
    smol: true,
  };
  return new Worker(urlOf(module), settings);
}

/**
 * In a compiled executable, every `thread.ts` and `*-thread.ts` is an entry point at its path
 * relative to the root.
 */
function urlOf(module: string): URL {
  const isSource = import.meta.url.endsWith('/server/threads/worker.ts');
  return new URL(isSource ? `../../${module}` : `./${module}`, import.meta.url);
}
