import { workerData } from 'node:worker_threads';

/* Preloaded in each thread of a storage. Makes the writer thread start slowly. */

// Only the writer thread is started with `syncFailed`.
if (workerData?.syncFailed === false) Bun.sleepSync(2_000);
