import { readFileSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';

/* Preloaded in each thread of a server: accepted work ends the tasks thread. */
const name = readFileSync('/proc/thread-self/comm', 'utf8').trim();
if (name === 'tasks') {
  parentPort?.on('message', (message: unknown) => {
    if (message === 'wake') process.exit(7);
  });
}
