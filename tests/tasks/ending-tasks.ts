import { parentPort } from 'node:worker_threads';

/* Preloaded in each thread of a server. Each wake-up for accepted work ends the tasks thread. */
parentPort?.on('message', (message: unknown) => {
  if (message === 'wake') process.exit(7);
});
