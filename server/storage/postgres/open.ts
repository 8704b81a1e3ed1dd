import { createThreads, type Threads } from '../../threads/start.ts';
import { createReaderPool } from '../reader-pool.ts';
import type { ConnectedStorage, Storage } from '../storage.ts';
import { readIsDistributed } from './citus.ts';
import { createOperations } from './client.ts';
import { type Connection, createConnection, readInIndexOrder } from './connection.ts';
import { answered, cannotOpen, isStarting } from './errors.ts';
import { createHealth } from './health.ts';
import { assertFinished, migrate } from './migrate.ts';
import { readMemory } from './reader/memories.ts';
import { createReadAhead } from './reader/read-ahead.ts';
import type { ReaderStart } from './reader/thread.ts';
import { createSharedConnection } from './shared-connection.ts';
import { inTransaction, type Work } from './transaction.ts';
import { createVectors } from './vectors.ts';
import { createMaintenance } from './writer/maintenance.ts';
import { keepStatistics } from './writer/statistics.ts';
import { createTasks } from './writer/tasks.ts';
import { createWriteQueue } from './writer/write-queue.ts';

/*
 * The PostgreSQL backend: one database that any number of servers share.
 *
 *   save      HTTP thread: writes that arrive together share one pipelined transaction
 *   update    HTTP thread: a transaction that locks the user's row, reads and writes
 *   search    HTTP thread -> a reader thread: one snapshot; the user's index is held in memory and
 *             brought up to date inside the snapshot
 *   get, list HTTP thread, on a connection that requests share
 *   ingest    like save; the tasks thread claims and completes tasks on its own connections
 *   crash     acknowledged writes are committed; tasks are claimed again when their leases expire
 */

/** The number of connections for writes. Each open transaction uses one connection. */
const writeConnections = 4;
/** How long to wait for a database that is starting, for example after the machine restarted. */
const defaultStartWithinMs = 10_000;
/** The project id of operations that belong to no project. */
const noProject = 0;

/** Connects to the database and migrates it. Throws an Error with advice on failure. */
export async function openPostgres(
  url: string,
  options: {
    warn?(message: string, error?: unknown): void;
    threads?: Threads;
    startWithinMs?: number;
  } = {},
): Promise<Storage> {
  const { warn = () => {}, threads = createThreads() } = options;
  const { startWithinMs = defaultStartWithinMs } = options;
  const connection = createSharedConnection({
    url,
    purpose: 'server',
    settings: readInIndexOrder,
  });
  let isDistributed: boolean;
  try {
    isDistributed = await prepareWhenStarted(connection, { warn, startWithinMs });
  } catch (error) {
    connection.close();
    throw cannotOpen(error);
  }
  const connections = Array.from({ length: writeConnections }, () =>
    createConnection({ url, purpose: 'writer' }),
  );
  // Open the connections now, so that the first requests do not wait. A connection that fails to
  // open is retried on demand.
  for (const one of connections) one.session().catch(() => {});
  const quotas = createConnection({ url, purpose: 'quotas' });
  const health = createHealth(url, [connection, quotas, ...connections]);
  const transact = <T>(work: Work<T>) => writes.run<T>({ projectId: noProject, work });
  const maintenance = await createMaintenance(connection, transact, isDistributed);
  const writes = createWriteQueue({
    connections,
    isDistributed,
    uptime: maintenance.uptime,
    fault: () => health.state().fault,
    note: health.note,
  });
  const tasks = createTasks(connection, transact, isDistributed);
  const vectors = createVectors(connection, transact);
  // On Citus, the workers store the rows of the analyzed tables and run their own autovacuum.
  const stopStatistics = isDistributed ? () => {} : keepStatistics(url, connection);
  const readers = createReaderPool({
    module: 'server/storage/postgres/reader/thread.ts',
    data: (limits): ReaderStart => ({ url, ...limits }),
    threads,
  });
  return {
    name: 'postgres',
    ...createOperations({
      connection,
      quotas,
      writes,
      tasks,
      vectors,
      maintenance,
      readers,
      health,
    }),
    connection: () => ({ data: { kind: 'postgres', url, isDistributed }, transfer: [] }),
    async close() {
      await Promise.all([readers.stop(), writes.drain()]);
      tasks.stop();
      health.stop();
      stopStatistics();
      await maintenance.release().catch(() => {});
      for (const one of [connection, quotas, ...connections]) one.close();
    },
  };
}

const startPauseMs = 250;

/** Returns whether the database is distributed. */
async function prepareWhenStarted(
  connection: Connection,
  { warn, startWithinMs }: { warn(message: string, error?: unknown): void; startWithinMs: number },
): Promise<boolean> {
  const deadline = performance.now() + startWithinMs;
  for (let isFirst = true; ; isFirst = false) {
    try {
      await migrate(connection);
      await assertFinished(connection.run);
      return await readIsDistributed(connection.run);
    } catch (error) {
      if (!isStarting(error) || performance.now() > deadline) throw error;
      if (isFirst) warn('the database does not accept connections yet; waiting for it', error);
      await Bun.sleep(startPauseMs);
    }
  }
}

export function connectPostgres({
  url,
  isDistributed,
}: {
  url: string;
  isDistributed: boolean;
}): ConnectedStorage {
  const connection = createConnection({ url, purpose: 'tasks' });
  const completing = createConnection({ url, purpose: 'tasks' });
  let last: Promise<unknown> = Promise.resolve();
  /** Runs one transaction at a time. */
  function transact<T>(work: Work<T>): Promise<T> {
    const next = last.then(() => inTransaction(completing, work));
    last = next.catch(() => {});
    return next;
  }
  const { queue, stop } = createTasks(connection, transact, isDistributed);
  const ahead = createReadAhead((read) => readMemory(connection.run, read));
  return {
    ...queue,
    ...createVectors(connection, transact),
    async claimTasks(claim) {
      const claimed = await queue.claimTasks(claim);
      ahead.expect(claimed);
      return claimed;
    },
    getMemory: (read) => answered(ahead.getMemory(read)),
    async close() {
      stop();
      await last;
      connection.close();
      completing.close();
    },
  };
}
