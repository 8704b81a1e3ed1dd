import { parentPort } from 'node:worker_threads';

/* Preloaded in every server thread. Ends the tasks thread whenever it is woken for new work. */
parentPort?.on('message', (message: unknown) => {
  if (message === 'wake') process.exit(7);
});
