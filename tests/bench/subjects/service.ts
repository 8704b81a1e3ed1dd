/* The service, wired as `server/main.ts` does it. Its argument: { databaseUrl, env }. */
import { startServer } from '../../../server/main.ts';

const { databaseUrl, env } = JSON.parse(process.argv[2] ?? '') as {
  databaseUrl: string;
  env: Record<string, string>;
};
const server = await startServer({ env, databaseUrl, port: 0 });
console.log(JSON.stringify({ url: server.url }));
process.on('SIGTERM', () => void server.stop());
