import { limits } from '../../../sdk/contract/limits.ts';
import { createThreads } from '../../threads/start.ts';
import { createEngine } from '../pooled-reads.ts';
import { QueueLimit } from '../queue-limit.ts';
import { createReaderPool } from '../reader-pool.ts';
import {
  type ConnectedStorage,
  createConnectedStorage,
  createStorage,
  type OpenOptions,
  type Storage,
} from '../storage.ts';
import type { StorageFigures } from '../types/maintenance.ts';
import { type Connection, createConnection, query } from './connection.ts';
import { createShortEngine } from './engine.ts';
import { cannotOpen, isStarting, notRead, notStored } from './errors.ts';
import { createHealth } from './health.ts';
import { keepLeases } from './leases.ts';
import { assertFinished, migrate } from './migrate.ts';
import { changeByKey, readInIndexOrder } from './planner.ts';
import { reserveQuota } from './quotas.ts';
import type { ReaderStart } from './reader/thread.ts';
import { createSharedConnection } from './shared-connection.ts';
import { keepStatistics } from './statistics.ts';
import { createCleanup } from './turns.ts';

/*
 * The PostgreSQL backend: one database that any number of servers share.
 *
 *   save      HTTP thread: writes that arrive together run in step in one transaction
 *   update    HTTP thread: a transaction of its own, because its user is not known before
 *   search    HTTP thread -> a reader thread: one snapshot; the user's index is held in memory and
 *             brought up to date inside the snapshot
 *   get, list HTTP thread, on a connection that requests share
 *   ingest    like save; the tasks thread claims and completes tasks on its own connections
 *   crash     acknowledged writes are committed; tasks are claimed again when their leases expire
 */

/** The number of connections for writes. Each open transaction uses one connection. */
const writeConnections = 4; // mutate-ignore constant: affects only speed
const connectedWriteConnections = 2; // mutate-ignore constant: affects only speed
/** How long to wait for a database that is starting, for example after the machine restarted. */
const defaultStartWithinMs = 10_000;

/** Connects to the database and migrates it. Throws an Error with advice on failure. */
export async function openPostgres(url: string, options: OpenOptions = {}): Promise<Storage> {
  const { warn = () => {}, threads = createThreads() } = options;
  const { startWithinMs = defaultStartWithinMs } = options;
  const purpose = 'server';
  const connection = createSharedConnection({ url, purpose, settings: readInIndexOrder });
  try {
    await prepareWhenStarted(connection, { warn, startWithinMs });
  } catch (error) {
    connection.close();
    throw cannotOpen(error);
  }
  const connections = openConnections(url, 'writer', writeConnections);
  const quotas = createConnection({ url, purpose: 'quotas' });
  const health = createHealth(url, [connection, quotas, ...connections]);
  const fault = () => health.state().fault;
  const readers = createReaderPool({
    module: 'server/storage/postgres/reader/thread.ts',
    start(limits) {
      const data: ReaderStart = { url, ...limits };
      return { data, transfer: [] };
    },
    threads,
  });
  const queueLimit = shared();
  const short = createShortEngine({
    connection,
    connections,
    queueLimit,
    fault,
    note: health.note,
  });
  const engine = createEngine(readers, short);
  const stopStatistics = keepStatistics(url, connection);
  const { release, ...cleanup } = await createCleanup(engine);
  const { stop, ...queue } = keepLeases(engine);
  return {
    name: 'postgres',
    ...createStorage(engine),
    ...queue,
    ...cleanup,
    async reserveQuota(request) {
      try {
        return await reserveQuota(quotas, request);
      } catch (error) {
        throw notStored(error);
      }
    },
    // PostgreSQL itself verifies page checksums, if they are enabled.
    findDamage: async () => [],
    health: async () => health.state(),
    figures: () => readFigures(connection),
    connection: () => ({ data: { kind: 'postgres', url }, transfer: [] }),
    async close() {
      await release().catch(() => {});
      await Promise.all([readers.stop(), short.drain()]);
      stop(); // mutate-ignore removal: without connections, renewals fail
      health.stop();
      stopStatistics();
      for (const one of [connection, quotas, ...connections]) one.close();
    },
  };
}

/** Other servers accept records too, so a count is taken again at half of the limit. */
function shared(): QueueLimit {
  return new QueueLimit(limits.pendingRecords / 2);
}

/**
 * Opens the connections now, so that the first requests do not wait. A connection that fails to
 * open is retried on demand.
 */
function openConnections(url: string, purpose: string, count: number): Connection[] {
  const options = { url, purpose, settings: changeByKey };
  const connections = Array.from({ length: count }, () => createConnection(options));
  for (const one of connections) one.session().catch(() => {});
  return connections;
}

const startPauseMs = 250;

async function prepareWhenStarted(
  connection: Connection,
  { warn, startWithinMs }: Required<Pick<OpenOptions, 'warn' | 'startWithinMs'>>,
): Promise<void> {
  const deadline = performance.now() + startWithinMs;
  for (let isFirst = true; ; isFirst = false) {
    try {
      await migrate(connection);
      await assertFinished(connection);
      return;
    } catch (error) {
      if (!isStarting(error) || performance.now() > deadline) throw error;
      if (isFirst) warn('the database does not accept connections yet; waiting for it', error);
      await Bun.sleep(startPauseMs);
    }
  }
}

async function readFigures(connection: Connection): Promise<StorageFigures> {
  try {
    const text = 'SELECT pg_database_size(current_database()) AS bytes';
    const [size] = await query<{ bytes: number }>(connection, text);
    return { databaseBytes: size?.bytes ?? 0, logBytes: null, lastBackupAt: null };
  } catch (error) {
    throw notRead(error);
  }
}

/** Connects the tasks thread or the model thread. */
export function connectPostgres({ url }: { url: string }): ConnectedStorage {
  const connection = createConnection({ url, purpose: 'tasks' });
  const connections = openConnections(url, 'tasks', connectedWriteConnections);
  const engine = createShortEngine({ connection, connections, queueLimit: shared() });
  const { stop, ...queue } = keepLeases(engine);
  return {
    ...createConnectedStorage(engine),
    ...queue,
    async close() {
      stop();
      await engine.drain();
      connection.close();
      for (const one of connections) one.close();
    },
  };
}
