import type { BatchAccepted } from '../../sdk/contract/ingest.ts';
import type { Memory } from '../../sdk/contract/memory.ts';
import type { UserOrder } from '../../sdk/contract/project.ts';
import type { FoundMemory } from '../../sdk/contract/search.ts';
import type { Task as ListedTask, TaskStatus } from '../../sdk/contract/tasks.ts';
import type { Imported } from '../../sdk/contract/transfer.ts';
import { filterOf } from '../../server/memory/filter.ts';
import { nothing } from '../../server/memory/measurement.ts';
import type { Storage } from '../../server/storage/storage.ts';
import type { NewKey } from '../../server/storage/types/keys.ts';
import type {
  Batch,
  ExpectedVersion,
  Filter,
  Idempotency,
  ItemsJson,
  MemoryChanges,
  NewMemory,
  PageRange,
  Part,
  Search,
  StoredMemory,
  StoredStatus,
  WriteResult,
} from '../../server/storage/types/memories.ts';
import type { Measurement } from '../../server/storage/types/project.ts';
import type { Task } from '../../server/storage/types/tasks.ts';

/*
 * Short forms of the storage operations for the conformance suite, with defaults for the fields
 * that a test does not set.
 */

/** A separate, initially empty storage. `reopen` closes and opens the storage. */
export type Opened = {
  storage: Storage;
  /** The URL of the database. */
  url: string;
  reopen(): Promise<Storage>;
  /** Closes the storage and removes its data. */
  dispose(): Promise<void>;
  /**
   * Ends every lease, or one owner's leases. Only for backends that expire leases by the database's
   * clock and cannot detect that an owner no longer exists.
   */
  endLeases?(owner?: string): Promise<void>;
};

/** With `smallQueue`, a project can have at most `smallQueueRecords` pending records. */
export type OpenStorage = (options?: { smallQueue?: boolean }) => Promise<Opened>;

export const smallQueueRecords = 20;

export function memory(fields: Partial<NewMemory> = {}): NewMemory {
  return {
    id: `mem_${crypto.randomUUID()}`,
    userId: 'u',
    type: 'memory',
    content: 'hello',
    metadata: '{}',
    source: null,
    externalId: null,
    occurredAt: null,
    expiresAt: null,
    ...fields,
  };
}

export function record(fields: Partial<NewMemory> = {}): NewMemory {
  return memory({ type: 'document', ...fields });
}

export function imported(fields: Partial<StoredMemory> = {}): StoredMemory {
  const times = { createdAt: 5, updatedAt: 7 };
  return { ...memory(), status: 'complete', version: 1, ...times, ...fields };
}

export function keyed(key: string, fields: Partial<Idempotency> = {}): Idempotency {
  return { scope: '', key, fingerprint: 'f', ...fields };
}

export function newKey(fields: Partial<NewKey>): NewKey {
  const shown = { name: 'n', prefix: 'mk_abcd', lastFour: 'wxyz', project: 'p' };
  const rights = { userId: null, readOnly: false, metricsOnly: false };
  const times = { createdAt: 5, expiresAt: null };
  return { ...shown, ...rights, ...times, id: 'key', hash: `hash of ${fields.id}`, ...fields };
}

export type WriteFields = {
  at?: number;
  idempotency?: Idempotency | null;
  onlyUserId?: string | null;
};
type ChangeFields = WriteFields & { expectedVersion?: ExpectedVersion };
type ReadFields = { now?: number; onlyUserId?: string | null } & Part;
type FilterFields = { filter?: Partial<Filter> };
type ListFields = ReadFields & FilterFields & Partial<PageRange> & { order?: 'asc' | 'desc' };
type ListedPage<T> = { items: T[]; next: string | null };

/** A Storage as seen by one project. Tests with separate projects can share a Storage. */
export type Project = Awaited<ReturnType<typeof newProject>>;

export async function newProject(
  opened: Pick<Opened, 'storage'>,
  name = `project-${crypto.randomUUID()}`,
) {
  const projectId = await opened.storage.ensureProject(name);

  const write = ({ at = 1_000, idempotency = null, onlyUserId = null }: WriteFields) => {
    return { projectId, at, idempotency, onlyUserId };
  };
  const read = ({ now = 2_000, onlyUserId = null, range }: ReadFields) => {
    return { projectId, now, onlyUserId, range };
  };
  const listed = async <T>(page: Promise<{ items: ItemsJson; next: string | null }>) => {
    const { items, next } = await page;
    return { items: JSON.parse(items.join('')) as T[], next };
  };
  const allOf = (batch: unknown[]): Batch => ({ indexes: [...batch.keys()], failed: [] });

  const acceptBatch = (records: NewMemory[], more: WriteFields = {}) =>
    opened.storage.acceptRecords({ ...write(more), records, batch: allOf(records) });

  /** Accepts records as a batch, and returns their ids. */
  const accept = async (records: NewMemory[], more: WriteFields = {}) => {
    const { items } = bodyOf<BatchAccepted>(await acceptBatch(records, more));
    return items.map(({ memoryId }) => memoryId);
  };

  const page = (userId = 'u', more: ListFields = {}): Promise<ListedPage<Memory>> => {
    const { after = null, limit = 1_000, order = 'desc' } = more;
    const filter = { ...filterOf({}), ...more.filter };
    const wanted = { after, limit, order, filter, userId };
    return listed(opened.storage.listMemories({ ...read(more), ...wanted }));
  };

  return {
    id: projectId,
    save: (saved: NewMemory, more: ChangeFields = {}) => {
      const { expectedVersion = null } = more;
      return opened.storage.saveMemory({ ...write(more), memory: saved, expectedVersion });
    },
    update: (id: string, changes: MemoryChanges, more: ChangeFields = {}) => {
      const { expectedVersion = null } = more;
      return opened.storage.updateMemory({ ...write(more), id, changes, expectedVersion });
    },
    remove: (id: string, more: ChangeFields = {}) => {
      const { expectedVersion = null } = more;
      return opened.storage.deleteMemory({ ...write(more), id, expectedVersion });
    },
    erase: (userId = 'u', more: WriteFields = {}) =>
      opened.storage.eraseUser({ ...write(more), userId }),
    ingest: (ingested: NewMemory, more: WriteFields = {}) =>
      opened.storage.acceptRecords({ ...write(more), records: [ingested], batch: null }),
    acceptBatch,
    accept,
    acceptOne: async (fields: Partial<NewMemory> = {}, at = 1_000) => {
      const [id = ''] = await accept([record(fields)], { at });
      return id;
    },
    import: async (memories: StoredMemory[], more: WriteFields = {}) => {
      const batch = allOf(memories);
      return bodyOf<Imported>(
        await opened.storage.importMemories({ ...write(more), memories, batch }),
      );
    },
    get: (id: string, more: ReadFields = {}) => opened.storage.getMemory({ ...read(more), id }),
    status: (id: string, more: ReadFields = {}) => opened.storage.getStatus({ ...read(more), id }),
    statuses: (ids: string[], more: ReadFields = {}): Promise<StoredStatus[]> =>
      opened.storage.getStatuses({ ...read(more), ids }),
    page,
    list: async (userId = 'u', more: ListFields = {}): Promise<Memory[]> =>
      (await page(userId, { limit: 10_000, ...more })).items,
    exportPage: (more: ReadFields & Partial<PageRange> = {}) => {
      const { after = null, limit = 10_000 } = more;
      return listed<Memory>(opened.storage.exportMemories({ ...read(more), after, limit }));
    },
    users: async (more: ReadFields & Partial<PageRange & { order: UserOrder }> = {}) => {
      const { after = null, limit = 1_000, order = 'userId' } = more;
      const page = { after, limit, order };
      const { users, next } = await opened.storage.listUsers({ ...read(more), ...page });
      return { items: users, next };
    },
    tasks: (status: TaskStatus, more: ReadFields & Partial<PageRange> = {}) => {
      const { after = null, limit = 1_000 } = more;
      const page = { status, after, limit };
      return listed<ListedTask>(opened.storage.listTasks({ ...read(more), ...page }));
    },
    measure: async (more: ReadFields = {}): Promise<Measurement> => {
      let sum = nothing();
      let after: string | null = null;
      do {
        const part = { ...read(more), sum, after };
        ({ sum, next: after } = await opened.storage.measureMemories(part));
      } while (after !== null);
      return sum;
    },
    search: async (
      query: string,
      more: ReadFields & FilterFields & Partial<Omit<Search, 'filter'>> = {},
      signal?: AbortSignal,
    ): Promise<FoundMemory[]> => {
      const { userId = 'u', limit = 10, meaning = null, explain = false } = more;
      const filter = { ...filterOf({}), ...more.filter };
      const wanted = { ...read(more), userId, query, filter, limit, meaning, explain };
      return JSON.parse((await opened.storage.searchMemories(wanted, signal)).items.join(''));
    },
  };
}

export function bodyOf<T = Memory & { memoryId: string }>({ response }: WriteResult): T {
  return JSON.parse(response.body) as T;
}

/** Returns the body of a stored response after its memory has been deleted. */
export function deletedBody(id: string): string {
  return JSON.stringify({ id, memoryId: id, deleted: true });
}

export async function walk<T>(
  readPage: (after: string | null) => Promise<ListedPage<T>>,
): Promise<T[][]> {
  const pages: T[][] = [];
  let after: string | null = null;
  do {
    const { items, next }: ListedPage<T> = await readPage(after);
    pages.push(items);
    after = next;
  } while (after !== null);
  return pages;
}

export const leaseMs = 30_000;

type ClaimFields = { owner?: string; now?: number; limit?: number; leaseMs?: number };

/** Claims the tasks that are due. No task in these tests waits longer than the horizon. */
export function claim(storage: Storage, fields: ClaimFields = {}): Promise<Task[]> {
  const { now = 2_000 } = fields;
  const claimed = { owner: 'worker', now, leaseMs, horizon: now + 60_000, limit: 100 };
  return storage.claimTasks({ ...claimed, ...fields });
}

/** Claims one task. Throws if no task is due. */
export async function claimOne(storage: Storage, fields: ClaimFields = {}): Promise<Task> {
  const [task] = await claim(storage, { ...fields, limit: 1 });
  if (task === undefined) throw new Error('no task is due');
  return task;
}

export async function complete(storage: Storage, task: Task, now = 3_000): Promise<boolean> {
  const [isStored = false] = await storage.completeTasks([{ ...task, now, chunks: 1 }]);
  return isStored;
}

/** Completes all tasks in the storage, whatever their state, because the tests share one queue. */
export async function drainTasks({ storage, endLeases }: Opened): Promise<void> {
  await endLeases?.();
  // Every lease has ended by this time, and every waiting task is beyond this horizon.
  const late = { owner: 'drain', now: 1e12, leaseMs, horizon: -1, limit: 1_000 };
  for (;;) {
    const tasks = await storage.claimTasks(late);
    if (tasks.length === 0) return;
    for (const task of tasks) await complete(storage, task, 0);
  }
}
