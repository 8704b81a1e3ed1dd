import { MemoryClient } from '../../sdk/index.ts';
import { openAdmin } from '../../server/admin.ts';
import { startServer } from '../../server/main.ts';
import { emptyDatabase } from './backend.ts';

type Env = Record<string, string>;

/** A real server in this process, on a port and a fresh database of its own. */
export type TestServer = {
  url: string;
  databaseUrl: string;
  /** A key of the project `default`. */
  key: string;
  client: MemoryClient;
  /** A key of any project, and of any kind. */
  createKey(project: string, kind?: { userId?: string; readOnly?: boolean }): Promise<string>;
  /** The same database under a new server; the port changes, the keys stay. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

/** Every test server is quiet and takes any number of requests, unless `env` says otherwise. */
const quiet: Env = { LOG_LEVEL: 'silent', MEMORY_RATE_LIMIT: 'off' };

/** `preload` are modules that every thread of the server loads first, to inject faults. */
export async function startTestServer(
  env: Env = {},
  preload: readonly string[] = [],
): Promise<TestServer> {
  const { url: databaseUrl, remove } = await emptyDatabase();
  const start = () => startServer({ env: { ...quiet, ...env }, port: 0, databaseUrl, preload });
  let running = await start();
  const key = running.firstKey ?? env.MEMORY_API_KEY ?? '';
  const server: TestServer = {
    url: running.url,
    databaseUrl,
    key,
    client: new MemoryClient({ apiKey: key, baseUrl: running.url }),
    async createKey(project, kind = {}) {
      const admin = await openAdmin(databaseUrl);
      const { key: created } = await admin.createKey({ name: project, project, ...kind });
      await admin.close();
      return created;
    },
    async restart() {
      await running.stop();
      running = await start();
      server.url = running.url;
      server.client = new MemoryClient({ apiKey: key, baseUrl: running.url });
    },
    async stop() {
      await running.stop();
      await remove();
    },
  };
  return server;
}

/** One request as it stands, with the server's own key unless `headers` has another. */
export function send(
  server: TestServer,
  method: string,
  path: string,
  options: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<Response> {
  const { body, headers } = options;
  return fetch(server.url + path, {
    method,
    headers: {
      authorization: `Bearer ${server.key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}
