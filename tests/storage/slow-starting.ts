import { threadName } from 'node:worker_threads';

/* Preloaded in each thread of a storage. Makes the writer thread start slowly. */

if (threadName === 'writer') Bun.sleepSync(4_000);
