import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openAdmin } from '../../server/admin.ts';
import { type Child, startChild } from '../support/process.ts';
import type { Spec } from './serve.ts';

export type Target = ReturnType<typeof createTarget>;

/** The API key of the project `default`. The server receives the key in its environment. */
const faultKey = 'fault-harness-key-0123456789';

const serve = join(import.meta.dir, 'serve.ts');
const quiet = {
  LOG_LEVEL: 'silent',
  MEMORY_RATE_LIMIT: 'off',
  MEMORY_EMBEDDINGS: process.env.FAULTS_EMBEDDINGS ?? 'off',
  MEMORY_API_KEY: faultKey,
};

/** A server process that a harness can kill and restart. It is removed at the end of its scope. */
export function createTarget(
  options: {
    variants?: string[];
    env?: Record<string, string>;
    /** The environment of the process; `env` holds the service's settings. */
    processEnv?: Record<string, string>;
    folder?: string;
    /** The database to use instead of a new SQLite file. */
    databaseUrl?: string;
    /** Reuses the port of the first start for all later starts. */
    samePort?: true;
  } = {},
) {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'memory-fault-'));
  const path = join(folder, 'memory.db');
  const spec: Spec = {
    databaseUrl: options.databaseUrl ?? `sqlite:${path}`,
    port: 0,
    variants: options.variants ?? [],
    env: { ...quiet, ...options.env },
  };
  let child: Child | null = null;
  let url = '';
  let up = openGate();

  /** Starts the server, with `under` before the command. Throws if the start fails. */
  async function start(under: string[] = []): Promise<void> {
    const command = [...under, process.execPath, serve, JSON.stringify(spec)];
    const started = startChild(command, options.processEnv);
    child = started;
    let listened = false;
    void started.exited.then(() => {
      // After a failed start, `up` is still pending: callers of `whenUp` wait for the next start.
      if (child === started && listened) up = openGate();
    });
    try {
      url = (JSON.parse(await started.ready) as { url: string }).url;
    } catch (error) {
      await started.end('SIGKILL');
      throw error;
    }
    if (options.samePort) spec.port = Number(new URL(url).port);
    listened = true;
    up.resolve();
  }

  async function kill(): Promise<void> {
    await child?.end('SIGKILL');
  }

  /** Kills the process. Removes the database folder unless the caller provided it. */
  async function remove(): Promise<void> {
    await kill();
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
  }

  return {
    /** Changes with every start, unless `samePort` is set. */
    get url() {
      return url;
    },
    get pid() {
      return child?.pid ?? 0;
    },
    key: faultKey,
    path,
    /** Resolves when the server listens. Rejects after `giveUp`. */
    whenUp: () => up.promise,
    /** Resolves when the current process has exited. */
    whenDown: async () => (await child?.exited) ?? null,
    start,
    kill,
    /** Makes `whenUp` reject, because the server will not start again. */
    giveUp: () => up.reject(new Error(`the server does not start: ${child?.log().slice(-500)}`)),
    /** Sends SIGTERM and resolves with the exit code. */
    stop: async () => (await child?.end('SIGTERM')) ?? null,
    signal: (name: NodeJS.Signals) => child?.signal(name),
    running: () => child?.running() ?? false,
    log: () => child?.log() ?? '',
    [Symbol.asyncDispose]: remove,
  };
}

function openGate() {
  const gate = Promise.withResolvers<void>();
  // Prevents an unhandled rejection if `giveUp` is called while no caller waits.
  gate.promise.catch(() => {});
  return gate;
}

/** Starts the server, or returns false if the process exits before it listens. */
export function startsUp(target: Target, under?: string[]): Promise<boolean> {
  return target.start(under).then(
    () => true,
    () => false,
  );
}

/** Kills the server and starts it again. Returns the duration of the start, in ms. */
export async function restart(target: Target): Promise<number> {
  await target.kill();
  const begun = performance.now();
  try {
    await target.start();
  } catch (error) {
    // Otherwise, the clients would wait for the server forever.
    target.giveUp();
    throw error;
  }
  return performance.now() - begun;
}

/** Kills and restarts the server at random until the work is done. Returns the number of kills. */
export async function killDuring(
  work: Promise<unknown>,
  target: Target,
  nextMs: () => number,
  most = Number.POSITIVE_INFINITY,
): Promise<number> {
  let isDone = false;
  const end = work.finally(() => {
    isDone = true;
  });
  let kills = 0;
  for (; !isDone && kills < most; kills += 1) {
    await Promise.race([end, Bun.sleep(nextMs())]);
    await restart(target);
  }
  await end;
  return kills;
}

/** Creates a key of a project in the database. */
export async function createKey(databaseUrl: string, project: string): Promise<string> {
  const admin = await openAdmin(databaseUrl);
  const { key } = await admin.createKey({ name: project, project });
  await admin.close();
  return key;
}
