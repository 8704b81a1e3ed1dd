import { parentPort } from 'node:worker_threads';

/* Preloaded in each thread of a server: accepted work ends the tasks thread, which it wakes. */
parentPort?.on('message', (message: unknown) => {
  if (message === 'wake') process.exit(7);
});
