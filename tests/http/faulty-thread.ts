import { isMainThread, threadName } from 'node:worker_threads';

/* Preloaded in each thread of a server. A test in the main thread breaks a thread by its name. */

type Fault = { thread: string; what: 'exit' | 'throw' | 'loop' };

const channel = new BroadcastChannel('faults of threads');
channel.unref();
if (!isMainThread) channel.onmessage = ({ data }) => suffer(data as Fault);

export function breakThread(thread: string, what: Fault['what']): void {
  channel.postMessage({ thread, what } satisfies Fault);
}

function suffer({ thread, what }: Fault): void {
  if (thread !== threadName) return;
  if (what === 'exit') process.exit(7);
  if (what === 'throw') throw new Error('a fault in this thread');
  // Unlike an empty loop, this leaves the core to the other threads.
  while (what === 'loop') Bun.sleepSync(100);
}
