import { Worker } from 'node:worker_threads';
import { startThread } from '../../server/threads/start.ts';

/*
 * Calls a thread of the lowest priority while other threads use every core, with more and more
 * work, until a call takes longer than the watchdog waits for a silent thread. Prints how long it
 * took, in ms, or its error.
 */

const silentMs = 1_600;

const thread = startThread({
  name: 'busy',
  module: 'tests/threads/busy-thread.ts',
  data: null,
  lost: (reason) => new Error(reason),
});
await thread.ready;
for (let count = 0; count < 3; count += 1) new Worker('for (;;);', { eval: true });
let tookMs = 0;
try {
  for (let cpuMs = 5; tookMs <= silentMs; cpuMs *= 2) {
    const begun = performance.now();
    await thread.call('use', cpuMs);
    tookMs = performance.now() - begun;
  }
  console.log(tookMs);
} catch (error) {
  console.log(error);
}
process.exit();
