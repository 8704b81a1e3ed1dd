import { afterAll } from 'bun:test';
import { dirname } from 'node:path';
import { MemoryClient } from '../../sdk/index.ts';
import { openAdmin } from '../../server/admin.ts';
import { type StartOptions, startServer } from '../../server/main.ts';
import { emptyDatabase } from './backend.ts';

type Env = Record<string, string>;
type KeyKind = { userId?: string; readOnly?: boolean; metricsOnly?: boolean };

export type TestServer = Awaited<ReturnType<typeof startTestServer>>;

/** By default, a test server logs nothing and has neither a rate limit nor a model. */
const quiet: Env = { LOG_LEVEL: 'silent', MEMORY_RATE_LIMIT: 'off', MEMORY_EMBEDDINGS: 'off' };

/** Options of `startServer`. With a database of its own, a test removes it itself. */
type More = Pick<StartOptions, 'databaseUrl' | 'now' | 'onFatal' | 'hungAfterMs' | 'log' | 'port'>;

/**
 * Starts a real server in this process, with its own port and an empty database. `preload` lists
 * modules that every worker thread loads first, for example to inject faults.
 */
export async function startTestServer(
  env: Env = {},
  preload: readonly string[] = [],
  more: More = {},
) {
  const { url: databaseUrl, remove } =
    more.databaseUrl === undefined
      ? await emptyDatabase()
      : { url: more.databaseUrl, remove: async () => {} };
  const start = () =>
    startServer({ env: { ...quiet, ...env }, port: 0, preload, ...more, databaseUrl });
  let running = await start();
  const key = running.firstKey ?? env.MEMORY_API_KEY ?? '';
  const server = {
    url: running.url,
    databaseUrl,
    /** A key of the project `default`. */
    key,
    client: new MemoryClient({ apiKey: key, baseUrl: running.url }),
    /** Creates a key of the project, optionally bound to a user, read-only or for metrics. */
    async createKey(project: string, kind: KeyKind = {}): Promise<string> {
      const admin = await openAdmin(databaseUrl);
      const { key: created } = await admin.createKey({ name: project, project, ...kind });
      await admin.close();
      return created;
    },
    /**
     * Starts a new server on the same database. The port changes; the keys remain valid. `between`
     * runs while no server is running.
     */
    async restart(between = async () => {}): Promise<void> {
      await running.stop();
      await between();
      running = await start();
      server.url = running.url;
      server.client = new MemoryClient({ apiKey: key, baseUrl: running.url });
    },
    async stop(): Promise<void> {
      await running.stop();
      await remove();
    },
    [Symbol.asyncDispose]: (): Promise<void> => server.stop(),
  };
  return server;
}

/** Starts a test server at the top of a test file, and stops it after the file's last test. */
export async function withServer(
  ...options: Parameters<typeof startTestServer>
): Promise<TestServer> {
  const server = await startTestServer(...options);
  afterAll(() => server.stop());
  return server;
}

/** The server that test files of one process share. */
let shared: Promise<TestServer> | undefined;
let projects = 0;

/** Gives a test file a project of its own on a server that the files of this process share. */
export async function withProject(): Promise<TestServer> {
  shared ??= startShared();
  const server = await shared;
  projects += 1;
  const own = `file-${projects}`;
  const createKey: TestServer['createKey'] = (project, kind) =>
    server.createKey(project === 'default' ? own : `${own}-${project}`, kind);
  const key = await server.createKey(own);
  const refuse = () => Promise.reject(new Error('other test files use this server'));
  const client = new MemoryClient({ apiKey: key, baseUrl: server.url });
  return { ...server, key, client, createKey, restart: refuse, stop: refuse };
}

async function startShared(): Promise<TestServer> {
  const server = await startTestServer();
  const [, path] = /^sqlite:(.*)$/.exec(server.databaseUrl) ?? [];
  if (path !== undefined) removeAtExit(dirname(path));
  return server;
}

/** Bun emits no 'exit' in a process of `bun test`, so that a child notices the end of its stdin. */
function removeAtExit(folder: string): void {
  const command = ['sh', '-c', `trap '' INT TERM HUP; cat; rm -rf "$0"`, folder];
  Bun.spawn(command, { stdin: 'pipe', stdout: 'ignore', stderr: 'ignore' }).unref();
}

/** Sends one request, with the server's key unless `headers` contains another one. */
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
