import { startServer } from '../../server/main.ts';
import { type Fault, faultyThreads } from '../http/faulty-thread.ts';

/*
 * A service that prints its address. SIGUSR2 blocks its HTTP thread for a day, and SIGUSR1 breaks
 * another thread. The environment has the database, after how long a hanging thread ends the
 * process, and how SIGUSR1 breaks which thread.
 */
const { DATABASE_URL = '', HUNG_AFTER_MS = '', API_KEY = '', THREAD = '', FAULT } = process.env;

const { preload, breakThread, remove } = faultyThreads();
process.on('exit', remove);
const { url } = await startServer({
  env: { MEMORY_API_KEY: API_KEY, MEMORY_EMBEDDINGS: 'off', LOG_LEVEL: 'warn' },
  port: 0,
  databaseUrl: DATABASE_URL,
  preload: [preload],
  onFatal: 'exit',
  hungAfterMs: Number(HUNG_AFTER_MS),
});
process.on('SIGUSR1', () => breakThread(THREAD, FAULT as Fault['what']));
process.on('SIGUSR2', () => Bun.sleepSync(1e8));
console.log(url);
