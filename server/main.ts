import { version } from '../package.json';
import { createApp, type Services } from './app.ts';
import { startChores } from './chores.ts';
import { type Config, readConfig, sqlitePath } from './config.ts';
import { createAuthenticator } from './http/authenticate.ts';
import { newMemoryId } from './ids.ts';
import { keyToStore, makeKey } from './keys.ts';
import { listen } from './listen.ts';
import {
  createLogger,
  jsonLine,
  type Logger,
  type LogSink,
  prettyLine,
  stderrSink,
} from './log.ts';
import { indexInTurns } from './memory/passages.ts';
import { startWorker, type Worker } from './queue/worker.ts';
import { openSqlite } from './storage/sqlite/open.ts';
import type { Storage } from './storage/storage.ts';

export type StartOptions = {
  env: Record<string, string | undefined>;
  /** These win over the environment. */
  port?: number;
  host?: string;
  databaseUrl?: string;
  /** Gets the log, line by line, as JSON. By default it goes to stderr, readable on a terminal. */
  log?: (line: string) => void;
};

export type RunningServer = {
  url: string;
  /** The key that an empty database was given, to be shown once. */
  firstKey: string | null;
  /** Takes no more requests, finishes those in hand, stores everything, and closes. */
  stop(): Promise<void>;
};

const defaultProject = 'default';

/** Wires the service and listens. Throws an Error that says what to do where it cannot start. */
export async function startServer(options: StartOptions): Promise<RunningServer> {
  const config = readConfig(withFlags(options));
  const sink = logSink(options.log);
  const log = createLogger(config.logLevel, sink.write);
  const storage = openSqlite(sqlitePath(config.databaseUrl), {
    exclusive: true,
    report: (message, error) => log.warn(message, { error }),
  });
  const running = await serve(config, storage, log).catch(async (error) => {
    await storage.close();
    throw error;
  });
  return {
    ...running,
    async stop() {
      await running.stop();
      log.info('stopped');
      sink.flush();
    },
  };
}

function logSink(takeLine: StartOptions['log']): LogSink {
  if (takeLine === undefined) return stderrSink(process.stderr.isTTY ? prettyLine : jsonLine);
  return { write: (entry) => takeLine(jsonLine(entry)), flush() {} };
}

async function serve(config: Config, storage: Storage, log: Logger): Promise<RunningServer> {
  const now = Date.now;
  const clock = () => performance.now();
  const projectId = await storage.ensureProject(defaultProject);
  const fixed = config.apiKey === null ? null : { key: config.apiKey, projectId };
  const authenticator = createAuthenticator({ storage, now, clock, fixed });
  const worker = startWorker({ storage, now, log, index: indexInTurns });
  const watch = watchDamage(storage, log);
  let closing: string | null = null;
  const services: Services = {
    storage,
    worker,
    authenticator,
    config,
    log,
    version,
    now,
    clock,
    newId: newMemoryId,
    addressOf: (request) => listener.addressOf(request),
    waitLonger: (request) => listener.waitLonger(request),
    closeSoon: (request) => listener.closeSoon(request),
    unavailableReason: () => closing ?? watch.damage(),
  };
  const listener = await stoppingOnError(worker, () =>
    listen(config, createApp(services).fetch, log),
  );
  // Not before: a key that was made by a server that cannot listen would never be shown.
  const firstKey = config.apiKey === null ? await makeFirstKey(storage, now()) : null;
  const stopChores = startChores({ storage, authenticator, now, log });
  log.info('listening', { url: listener.url });
  return {
    url: listener.url,
    firstKey,
    async stop() {
      closing = 'the service is shutting down; try again shortly';
      const choresStopped = stopChores();
      await listener.stop();
      await worker.stop();
      await choresStopped;
      // When keys were last used is not worth a database that stays open.
      await authenticator.flushKeyUsage().catch((error) => log.warn('a chore was left', { error }));
      await storage.close();
    },
  };
}

async function stoppingOnError<T>(worker: Worker, step: () => T): Promise<T> {
  try {
    return step();
  } catch (error) {
    await worker.stop();
    throw error;
  }
}

/** Looks for damage while the service runs; once there is some, `damage` says so. */
function watchDamage(storage: Storage, log: Logger): { damage(): string | null } {
  let damage: string | null = null;
  storage.findDamage().then(
    (faults) => {
      if (faults.length === 0) return;
      damage = 'the database is damaged; its operator has to restore a backup';
      log.error(`${damage}: memory doctor, memory restore`, { error: faults.join('\n') });
    },
    (error) => log.warn('the check of the database did not end', { error }),
  );
  return { damage: () => damage };
}

/** Flags win over the environment, and are held to the same rules. */
function withFlags({ env, port, host, databaseUrl }: StartOptions): StartOptions['env'] {
  return {
    ...env,
    ...(port !== undefined && { PORT: String(port) }),
    ...(host !== undefined && { HOST: host }),
    ...(databaseUrl !== undefined && { MEMORY_DATABASE_URL: databaseUrl }),
  };
}

/** An empty database gets a key, so that the first command works. */
async function makeFirstKey(storage: Storage, createdAt: number): Promise<string | null> {
  const keys = await storage.listKeys();
  if (keys.length > 0) return null;
  const key = makeKey();
  const about = { project: defaultProject, name: 'first run', createdAt, expiresAt: null };
  await storage.createKey(keyToStore(key, about));
  return key;
}
