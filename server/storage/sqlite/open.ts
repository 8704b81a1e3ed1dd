import { createThreads, type Threads } from '../../threads/start.ts';
import { lastBackupAt } from '../operations/maintenance.ts';
import { createEngine } from '../pooled-reads.ts';
import { createReaderPool } from '../reader-pool.ts';
import { createStorage, type OpenOptions, type Storage } from '../storage.ts';
import type { StorageHealth } from '../types/maintenance.ts';
import { readThrough } from './client.ts';
import { type FileCheck, watchFile } from './file-identity.ts';
import { lockDatabase } from './lock.ts';
import { canonicalPath, logBytes, longLogBytes, sizeOf } from './path.ts';
import { isSmall, type PreparedFile, prepareFile } from './prepare.ts';
import type { ReaderStart } from './protocol.ts';
import { keepFilesPrivate, openForReading } from './settings.ts';
import { createTx } from './transaction.ts';
import { createWriterClient, type WriterClient } from './writer-client.ts';

/*
 * The embedded backend: one SQLite file and the threads that work on it.
 *
 *   save      HTTP thread -> writer thread: writes that arrive together share one transaction,
 *             COMMIT with synchronous=FULL, then the replies
 *   search    HTTP thread -> a reader thread: one snapshot; the user's index is held in memory and
 *             brought up to date inside the snapshot
 *   get, list HTTP thread, on its own connection; a list with filters runs like a search
 *   ingest    like save; the tasks thread claims and completes tasks through a port to the writer
 *   crash     the write-ahead log contains every acknowledged write; the next start requeues the
 *             tasks that were claimed
 */

/** In KiB. Holds the pages of some hundred users whose memories are listed again and again. */
const listCacheKiB = 16_384;

const lockAdvice = 'Stop it first, or use another database.';

/**
 * Opens the database file, creating it if it does not exist, and brings its schema up to date.
 * Locks the file against other servers. Throws an Error with advice if the file cannot be used.
 */
export async function openSqlite(name: string, options: OpenOptions = {}): Promise<Storage> {
  const { warn = () => {}, threads = createThreads() } = options;
  keepFilesPrivate();
  const path = canonicalPath(name);
  const lock = lockDatabase(path, lockAdvice);
  let prepared: PreparedFile | null = null;
  function release(): void {
    prepared?.close();
    lock.release();
  }
  try {
    prepared = prepareFile(path);
    const storage = await startThreads(path, { release, threads });
    if (prepared.fault !== null) {
      warn(prepared.fault);
      // A change that is expected to fail, so that the fault is reported from the start.
      // mutate-ignore constant: the change fails
      await storage.maintain({ now: 0, elapsedMs: 1 }).catch(() => {});
    }
    return storage;
  } catch (error) {
    release();
    throw error;
  }
}

/** Checks a large file for damage, in a thread that is terminated when the service stops. */
function createDamageCheck(path: string, threads: Threads) {
  let stop = async () => {};
  let isRunning = false;
  return {
    stop: () => stop(),
    isRunning: () => isRunning,
    async findDamage(): Promise<string[]> {
      if (isSmall(path)) return [];
      const module = 'server/storage/sqlite/integrity/thread.ts';
      const thread = threads.start({ name: 'integrity', module, data: { path } });
      stop = async () => thread.terminate();
      isRunning = true;
      const check = thread.call('check', null).finally(() => {
        isRunning = false;
      });
      const damage = (await check) as string[];
      await thread.stop();
      return damage;
    },
  };
}

async function startThreads(
  path: string,
  { release, threads }: { release: () => void; threads: Threads },
): Promise<Storage> {
  const readers = createReaderPool({
    threads,
    module: 'server/storage/sqlite/reader/thread.ts',
    start(limits) {
      const port = writer.openPort();
      const data: ReaderStart = { path, port, ...limits };
      return { data, transfer: [port] };
    },
  });
  const { betweenReads } = readers;
  const writer = createWriterClient(path, { threads, betweenReads });
  const damageCheck = createDamageCheck(path, threads);
  await writer.ready;
  const db = openForReading(path, listCacheKiB);
  const fileCheck = watchFile(path);
  const readShort = readThrough(createTx(db));
  const engine = createEngine(readers, { write: writer.write, readShort });
  return {
    name: 'sqlite',
    ...createStorage(engine),
    reserveQuota: null,
    health: async () => stateOf(path, fileCheck, writer, damageCheck.isRunning()),
    figures: async () => ({
      databaseBytes: sizeOf(path),
      logBytes: logBytes(path),
      lastBackupAt: await engine.readShort(lastBackupAt, undefined),
    }),
    findDamage: damageCheck.findDamage,
    connection() {
      const port = writer.openPort();
      return { data: { kind: 'sqlite', path, port }, transfer: [port] };
    },
    async close() {
      await Promise.all([damageCheck.stop(), readers.stop()]);
      db.close(true);
      await writer.stop();
      release();
    },
  };
}

function stateOf(
  path: string,
  fileCheck: FileCheck,
  writer: WriterClient,
  isChecking: boolean,
): StorageHealth {
  const fault = fileCheck() ?? writer.fault();
  const log = logBytes(path);
  const megabytes = Math.round(log / 1_048_576);
  const isLong = log > longLogBytes; // mutate-ignore boundary: the log is never this long exactly
  const reason = isChecking
    ? 'the check of the file, which began with the service, has not ended yet'
    : 'a read transaction has been open for too long';
  const longLog = `the write-ahead log has grown to ${megabytes} MB: ${reason}`;
  return { fault, warning: writer.warning() ?? (isLong ? longLog : null) };
}
