import type { LogLevel } from '../log.ts';
import { sharedCounts } from '../metrics/counts.ts';
import type { Start } from './messages.ts';

export type WorkerOptions = {
  name: string;
  /** The path of the thread's module, relative to the repository root. */
  module: string;
  data: unknown;
  transfer?: readonly MessagePort[];
  /** Modules that are loaded first. */
  preload: readonly string[];
  logLevel: LogLevel;
};

/** A thread of node:worker_threads would take 40 ms more of a core to start. */
export function startWorker(options: WorkerOptions): Worker {
  const { name, module, data, transfer = [], preload, logLevel } = options;
  // `smol` collects garbage before the heap has grown by 32 MB, which the other threads could not
  // use.
  const worker = new Worker(urlOf(module), { name, preload: [...preload], smol: true });
  const start: Start = { start: data, counts: sharedCounts(), logLevel };
  worker.postMessage(start, [...transfer]);
  return worker;
}

/**
 * In a compiled executable, every `thread.ts` and `*-thread.ts` is an entry point at its path
 * relative to the root.
 */
function urlOf(module: string): URL {
  const isSource = import.meta.url.endsWith('/server/threads/worker.ts');
  return new URL(isSource ? `../../${module}` : `./${module}`, import.meta.url);
}
