import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { send, startTestServer } from '../support/server.ts';
import { accept, list } from './messages.ts';

/*
 * Starts a server, sends requests without and then with MCP, and prints after each step how many
 * modules of the MCP library the HTTP thread and the other threads have loaded.
 */

const log = process.env.LOADED_LOG ?? '';

function report(): void {
  const ofHttpThread = Object.keys(require.cache).filter((path) => /modelcontext/.test(path));
  const ofThreads = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
  appendFileSync(1, `${ofHttpThread.length} ${ofThreads.length}\n`);
}

const server = await startTestServer({}, [join(import.meta.dir, 'log-loaded.ts')]);
await server.client.save({ userId: 'u', content: 'x' });
await server.client.search({ userId: 'u', query: 'x' });
await send(server, 'GET', '/mcp/users/u');
report();
await send(server, 'POST', '/mcp/users/u', { body: list, headers: { accept } });
report();
await server.stop();
