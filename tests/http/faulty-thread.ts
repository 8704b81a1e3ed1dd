import { writeFileSync } from 'node:fs';
import { threadName } from 'node:worker_threads';
import { temporaryFolder } from '../support/folder.ts';

/* A test in the main thread breaks a thread of a server by its name. */

/** `block` is one system call that never ends, so the thread cannot be terminated. */
export type Fault = { thread: string; what: 'exit' | 'throw' | 'loop' | 'block' };

/** Returns the module that each thread of a server must preload, and what breaks one of them. */
export function faultyThreads() {
  const folder = temporaryFolder();
  const preload = folder.file('preload.ts');
  writeFileSync(preload, `require(${JSON.stringify(import.meta.path)}).obey('${folder.path}')`);
  const channel = new BroadcastChannel(folder.path);
  channel.unref();
  return {
    preload,
    breakThread: (thread: string, what: Fault['what']) =>
      channel.postMessage({ thread, what } satisfies Fault),
    remove: () => folder[Symbol.dispose](),
  };
}

export function obey(name: string): void {
  const channel = new BroadcastChannel(name);
  channel.unref();
  channel.onmessage = ({ data }) => suffer(data as Fault);
}

function suffer({ thread, what }: Fault): void {
  if (thread !== threadName) return;
  if (what === 'exit') process.exit(7);
  if (what === 'throw') throw new Error('a fault in this thread');
  if (what === 'block') Bun.sleepSync(1e8);
  // Unlike an empty loop, this leaves the core to the other threads.
  while (what === 'loop') Bun.sleepSync(100);
}
