import { Worker } from 'node:worker_threads';
import { startThread } from '../../server/threads/start.ts';

/*
 * Calls a thread of the lowest priority while other threads use every core. Prints how long the
 * call took, in ms, or its error.
 */

const cpuMs = 100;

const thread = startThread({
  name: 'busy',
  module: 'tests/threads/busy-thread.ts',
  data: null,
  lost: (reason) => new Error(reason),
});
await thread.ready;
for (let count = 0; count < 3; count += 1) new Worker('for (;;);', { eval: true });
const begun = performance.now();
await thread.call('use', cpuMs).then(
  () => console.log(performance.now() - begun),
  (error) => console.log(error.message),
);
process.exit();
