import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from '../support/process.ts';
import type { Spec } from './serve.ts';

/** A server process on a database of its own, to be killed and started again. */
export type Target = {
  /** Changes with every start. */
  readonly url: string;
  readonly key: string;
  readonly path: string;
  readonly starts: number;
  readonly pid: number;
  /** Resolves when it listens, at once where it does; rejects where it never will. */
  whenUp(): Promise<void>;
  /** Resolves when the process that runs now has ended. */
  whenDown(): Promise<number | null>;
  /** Throws where the server does not come up. */
  start(under?: string[]): Promise<void>;
  kill(): Promise<void>;
  /** Tells those who wait that it will not come up again. */
  giveUp(): void;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
  signal(signal: NodeJS.Signals): void;
  running(): boolean;
  log(): string;
  /** Ends what runs and removes the database. */
  remove(): Promise<void>;
};

/**
 * Also set in the environment of the server under test, which accepts it for the project `default`.
 */
export const faultKey = 'fault-harness-key-0123456789';

const serve = join(import.meta.dir, 'serve.ts');
const quiet = { LOG_LEVEL: 'silent', MEMORY_RATE_LIMIT: 'off', MEMORY_API_KEY: faultKey };

export function createTarget(
  options: {
    variants?: string[];
    env?: Record<string, string>;
    /** The environment of the process; `env` holds the service's settings. */
    processEnv?: Record<string, string>;
    /** Modules that each of its threads loads first. */
    preload?: string[];
    folder?: string;
    /** Another database than a file of its own. */
    databaseUrl?: string;
    /** Where it is at first, it is after every start. */
    samePort?: true;
  } = {},
): Target {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'memory-fault-'));
  const path = join(folder, 'memory.db');
  const spec: Spec = {
    databaseUrl: options.databaseUrl ?? `sqlite:${path}`,
    port: 0,
    variants: options.variants ?? [],
    env: { ...quiet, ...options.env },
    preload: options.preload ?? [],
  };
  let child: Child | null = null;
  let url = '';
  let starts = 0;
  let up = openGate();

  async function start(under: string[] = []): Promise<void> {
    const command = [...under, process.execPath, serve, JSON.stringify(spec)];
    const started = startChild(command, options.processEnv);
    child = started;
    let listened = false;
    void started.exited.then(() => {
      // Of a start that failed those who wait go on waiting, at the same gate.
      if (child === started && listened) up = openGate();
    });
    try {
      url = (JSON.parse(await started.ready) as { url: string }).url;
    } catch (error) {
      await started.end('SIGKILL');
      throw error;
    }
    if (options.samePort) spec.port = Number(new URL(url).port);
    starts += 1;
    listened = true;
    up.resolve();
  }

  async function kill(): Promise<void> {
    await child?.end('SIGKILL');
  }

  return {
    get url() {
      return url;
    },
    get starts() {
      return starts;
    },
    get pid() {
      return child?.pid ?? 0;
    },
    key: faultKey,
    path,
    whenUp: () => up.promise,
    whenDown: async () => (await child?.exited) ?? null,
    start,
    kill,
    giveUp: () => up.reject(new Error(`the server does not start: ${child?.log().slice(-500)}`)),
    stop: async () => (await child?.end('SIGTERM')) ?? null,
    signal: (name) => child?.signal(name),
    running: () => child?.running() ?? false,
    log: () => child?.log() ?? '',
    async remove() {
      await kill();
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

function openGate() {
  const gate = Promise.withResolvers<void>();
  // Perhaps nobody waits when it is given up.
  gate.promise.catch(() => {});
  return gate;
}

/** Kills it and starts it again; returns how long the start took, in ms. */
export async function restart(target: Target): Promise<number> {
  await target.kill();
  const begun = performance.now();
  try {
    await target.start();
  } catch (error) {
    // Else the clients would wait for it for ever.
    target.giveUp();
    throw error;
  }
  return performance.now() - begun;
}
