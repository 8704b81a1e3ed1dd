import { startServer } from '../../server/main.ts';

/*
 * A service that prints its address. SIGUSR2 blocks its HTTP thread in an endless loop. The
 * environment has the database, and after how long a hanging thread ends the process.
 */
const { DATABASE_URL = '', HUNG_AFTER_MS = '', API_KEY = '' } = process.env;

const { url } = await startServer({
  env: { MEMORY_API_KEY: API_KEY, MEMORY_EMBEDDINGS: 'off', LOG_LEVEL: 'warn' },
  port: 0,
  databaseUrl: DATABASE_URL,
  onFatal: 'exit',
  hungAfterMs: Number(HUNG_AFTER_MS),
});
process.on('SIGUSR2', () => {
  for (;;);
});
console.log(url);
