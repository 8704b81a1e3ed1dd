import { homepage, version } from '../package.json';
import { createApp } from './app.ts';
import { type Config, readConfig, settingWarnings } from './config.ts';
import { createEmbedder, type Embedder } from './embeddings/embedder.ts';
import { createAuthenticator } from './http/authenticate.ts';
import { createClientAddress } from './http/client-address.ts';
import { keyToStore, makeKey } from './http/keys.ts';
import { listen } from './http/listen.ts';
import type { Services } from './http/services.ts';
import { newMemoryId } from './ids.ts';
import {
  createLogger,
  jsonLine,
  type Logger,
  type LogSink,
  prettyLine,
  stderrSink,
} from './log.ts';
import { createMcp } from './mcp/endpoint.ts';
import { watchEventLoopDelay } from './metrics/event-loop-delay.ts';
import { openStorage } from './storage/open.ts';
import type { Storage } from './storage/storage.ts';
import { startMaintenance } from './tasks/maintenance.ts';
import { startTasks } from './tasks/runner.ts';
import { createThreads, defaultHungAfterMs, type Threads } from './threads/start.ts';

export type StartOptions = {
  env: Record<string, string | undefined>;
  /** The port, the host and the database URL override the environment. */
  port?: number;
  host?: string;
  databaseUrl?: string;
  /** Receives each log line as JSON. By default, the log goes to stderr. */
  log?: (line: string) => void;
  /**
   * Shows or stores the first API key, if the database has no keys. The key is created only if this
   * returns true, because nobody could use a key that nobody has seen.
   */
  keepFirstKey?: (key: string, url: string) => Promise<boolean>;
  /**
   * Called if a thread is lost and the service cannot continue. With 'exit', the process exits with
   * status 1; if the HTTP thread hangs, another thread kills the process. By default, throws.
   */
  onFatal?: 'exit' | ((reason: string) => void);
  /** How long a thread may hang before the service ends. Default: 30 seconds. */
  hungAfterMs?: number;
  /** Modules that every thread loads first. Tests use them to inject faults. */
  preload?: readonly string[];
  /** The wall clock of requests, in milliseconds since 1970. Default: Date.now. */
  now?: () => number;
};

export type RunningServer = {
  url: string;
  /** The first API key, if the database had no keys and the key was kept; otherwise null. */
  firstKey: string | null;
  /** Stops accepting requests, finishes in-flight requests, and closes the database. */
  stop(): Promise<void>;
};

type Wiring = Pick<Services, 'config' | 'storage' | 'log' | 'tasks' | 'embedder' | 'now'> & {
  threads: Threads;
  keepFirstKey(key: string, url: string): Promise<boolean>;
};

const defaultProject = 'default';

export async function startServer(options: StartOptions): Promise<RunningServer> {
  const config = readConfig(withFlags(options));
  const { preload = [], onFatal = fail, now = Date.now } = options;
  const { hungAfterMs = defaultHungAfterMs } = options;
  const { keepFirstKey = async () => true } = options;
  const sink = logSink(options.log);
  const { logLevel } = config;
  const { write } = sink;
  const log = createLogger(logLevel, write);
  function end(reason: string): void {
    log.error(`${reason}; the service is exiting`);
    sink.flush();
    if (onFatal === 'exit') process.exit(1);
    onFatal(reason);
  }
  const threads = createThreads({ preload, onFatal: end, hungAfterMs, logLevel, write });
  for (const warning of settingWarnings(options.env)) log.warn(warning);
  const storage = await openStorage(config.databaseUrl, {
    threads,
    warn: (message, error) => log.warn(message, { error }),
  });
  const httpHungAfterMs = onFatal === 'exit' ? hungAfterMs : null;
  const tasks = startTasks({ storage, threads, httpHungAfterMs });
  const embedder = embedderOf(config, { storage, threads, log });
  const wiring = { config, storage, log, tasks, embedder, threads, keepFirstKey, now };
  const running = await serve(wiring).catch(async (error) => {
    await Promise.all([tasks.stop(), embedder?.stop()]);
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

function embedderOf(
  { embeddings }: Config,
  options: Omit<Parameters<typeof createEmbedder>[0], 'endpoint'>,
): Embedder | null {
  if (embeddings === 'off') return null;
  return createEmbedder({ ...options, endpoint: embeddings === 'local' ? null : embeddings });
}

function fail(reason: string): void {
  throw new Error(`${reason}; the service is exiting`);
}

function logSink(writeLine: StartOptions['log']): LogSink {
  if (writeLine === undefined) return stderrSink(process.stderr.isTTY ? prettyLine : jsonLine);
  return { write: (entry) => writeLine(jsonLine(entry)), flush() {} };
}

async function serve(wiring: Wiring): Promise<RunningServer> {
  const { config, storage, log, tasks, embedder, threads, keepFirstKey, now } = wiring;
  const clock = () => performance.now();
  const projectId = await storage.ensureProject(defaultProject);
  const fixed = config.apiKey === null ? null : { key: config.apiKey, projectId };
  const authenticator = createAuthenticator({ storage, now, clock, fixed });
  const damage = watchDamage(storage, log);
  let closing: string | null = null;
  const fetch = (request: Request) => app.fetch(request);
  const listener = listen(config, fetch, log);
  const mcp = createMcp({ version, fetch, threads });
  const services: Services = {
    ...wiring,
    ...listener,
    mcp,
    authenticator,
    version,
    homepage,
    clock,
    newMemoryId,
    addressOf: createClientAddress(config.trustedProxies, listener.peerOf),
    unavailableReason: () => closing ?? damage.found(),
  };
  // No request is handled before this turn of the event loop has ended.
  const app = createApp(services);
  async function stopListening(): Promise<void> {
    closing = 'the service is shutting down; try again shortly';
    await listener.stop();
    await mcp.stop();
  }
  // Create the first key only after listening succeeds. Otherwise, the key might never be shown.
  async function firstKeyOnceReady(): Promise<string | null> {
    await tasks.ready;
    await embedder?.start();
    if (config.apiKey !== null) return null;
    return makeFirstKey(storage, now(), (key) => keepFirstKey(key, listener.url));
  }
  const firstKey = await firstKeyOnceReady().catch(async (error) => {
    await stopListening();
    throw error;
  });
  const stopWatching = watchEventLoopDelay();
  const stopMaintenance = startMaintenance({ storage, authenticator, now, clock, log });
  log.info('listening', { url: listener.url });
  return {
    url: listener.url,
    firstKey,
    async stop() {
      stopWatching();
      const maintenanceStopped = stopMaintenance();
      await stopListening();
      await Promise.all([tasks.stop(), embedder?.stop()]);
      await maintenanceStopped;
      // Close the database even if key usage cannot be stored.
      await authenticator
        .flushKeyUsage()
        .catch((error) => log.warn('could not store API key usage', { error }));
      await storage.close();
    },
  };
}

function watchDamage(storage: Storage, log: Logger): { found(): string | null } {
  let damage: string | null = null;
  storage.findDamage().then(
    (faults) => {
      if (faults.length === 0) return;
      damage = 'the database is damaged; the operator must restore a backup';
      log.error(`${damage}; run "memory doctor" and "memory restore"`, {
        error: faults.join('\n'),
      });
    },
    (error) => log.warn('could not check the database for damage', { error }),
  );
  return { found: () => damage };
}

function withFlags({ env, port, host, databaseUrl }: StartOptions): StartOptions['env'] {
  return {
    ...env,
    ...(port !== undefined && { PORT: String(port) }),
    ...(host !== undefined && { HOST: host }),
    ...(databaseUrl !== undefined && { MEMORY_DATABASE_URL: databaseUrl }),
  };
}

/** Creates a key if the database has none, so that the first command works. */
async function makeFirstKey(
  storage: Storage,
  createdAt: number,
  keep: (key: string) => Promise<boolean>,
): Promise<string | null> {
  const keys = await storage.listKeys();
  if (keys.length > 0) return null;
  const key = makeKey();
  if (!(await keep(key))) return null;
  const kind = { userId: null, readOnly: false, metricsOnly: false };
  const about = { project: defaultProject, name: 'first run', ...kind, createdAt, expiresAt: null };
  await storage.createKey(keyToStore(key, about));
  return key;
}
