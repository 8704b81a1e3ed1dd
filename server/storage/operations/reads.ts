import { chunksOf } from '../../memory/chunks.ts';
import { mayAccess } from '../../memory/visibility.ts';
import { announced } from '../../threads/serve.ts';
import type { ReadOperation, ShortRead, Tx } from '../engine.ts';
import type { Part, Read, StoredMemory, StoredStatus } from '../types/memories.ts';
import type { Lease, QueueState, TaskText } from '../types/tasks.ts';
import { memoriesWithTasks, memoryColumns, notExpired, statusColumns } from './columns.ts';
import { overIds } from './id-lists.ts';

export type Get = Read & Part & { id: string };
export type GetStatus = Read & { id: string };

const findMemory = (content: string) => `SELECT ${memoryColumns}, ${content}
  FROM ${memoriesWithTasks}
  WHERE m.project_id = CAST($1 AS bigint) AND m.id = CAST($2 AS text) AND ${notExpired('$3')}`;
const findWhole = findMemory('m.content');
const findPart = findMemory(`length(m.content) AS "contentLength",
  substr(m.content, CAST($4 AS integer), CAST($5 AS integer)) AS content`);

/**
 * Returns the memory, or null if it does not exist. Finding a part of a text takes as long as
 * reading the whole text.
 */
export const getMemory: ShortRead<Get, StoredMemory | null> = {
  async run(tx, { projectId, id, now, onlyUserId, range }) {
    const values = [projectId, id, now];
    const found =
      range === undefined
        ? await tx.one<StoredMemory>(findWhole, values)
        : await tx.one<StoredMemory>(findPart, [...values, range.offset + 1, range.length]);
    return found !== undefined && mayAccess(onlyUserId, found) ? found : null;
  },
};

type StatusRow = StoredStatus & {
  userId: string;
  text: string | null;
  metadata: string;
  isLong: boolean | number;
};

/** The chunks of a memory without a task are counted on request: its text is read if it fits. */
const findStatus = `SELECT ${statusColumns}, m.user_id AS "userId",
    CASE WHEN t.kind IS NULL AND m.bytes <= CAST($4 AS bigint) THEN m.content END AS text,
    m.metadata, t.kind IS NULL AND m.bytes > CAST($4 AS bigint) AS "isLong"
  FROM ${memoriesWithTasks}
  WHERE m.project_id = CAST($1 AS bigint) AND m.id = CAST($2 AS text) AND ${notExpired('$3')}`;

/** Splitting a longer text (in UTF-16 units) may take a second on a busy machine. */
const largeUnits = 500_000;

/** Returns 'long' if the chunks of a text of more than `maxBytes` must be counted. */
async function readStatus(
  tx: Tx,
  { projectId, id, now, onlyUserId }: GetStatus,
  maxBytes: number,
): Promise<StoredStatus | 'long' | null> {
  const values = [projectId, id, now, maxBytes];
  const row = await tx.one<StatusRow>(findStatus, values);
  if (row === undefined || !mayAccess(onlyUserId, row)) return null;
  const { userId: _, text, metadata, isLong, ...status } = row;
  if (isLong) return 'long';
  if (text === null) return status;
  const count = () => chunksOf(text, metadata).length;
  const chunks = text.length > largeUnits ? announced(count) : count();
  return { ...status, chunksComplete: chunks, chunksTotal: chunks };
}

/** Splitting 64 KiB into chunks takes about a millisecond. */
const longBytes = 64 * 1024;

/**
 * Returns the processing status of the memory, or null if the memory does not exist. Returns 'long'
 * if the chunks of a long text must be counted; see `getStatuses`.
 */
export const getStatus: ShortRead<GetStatus, StoredStatus | 'long' | null> = {
  run: (tx, read) => readStatus(tx, read, longBytes),
};

/** The number of texts that are in memory at once. */
const statusesAtOnce = 16;

/**
 * Returns the statuses of the memories that exist, in the order of the requested ids. Reads each id
 * once, because counting the chunks of a saved memory requires its whole text.
 */
export const getStatuses: ReadOperation<Read & { ids: string[] }, StoredStatus[]> = {
  async run(tx, { ids, ...about }) {
    const byId = new Map<string, StoredStatus>();
    const wanted = [...new Set(ids)];
    // mutate-ignore boundary: no statuses are left
    for (let start = 0; start < wanted.length; start += statusesAtOnce) {
      const some = wanted.slice(start, start + statusesAtOnce);
      const read = some.map((id) => readStatus(tx, { ...about, id }, Number.MAX_SAFE_INTEGER));
      for (const status of await Promise.all(read))
        if (status !== null && status !== 'long') byId.set(status.memoryId, status);
    }
    return ids.flatMap((id) => byId.get(id) ?? []);
  },
};

/**
 * Returns the number of waiting and running tasks, how many of them are running, when the oldest of
 * them was accepted, and the number of failed tasks.
 */
export const taskQueueState: ShortRead<void, QueueState> = {
  async run(tx) {
    const [work, ended] = await Promise.all([
      tx.one<Omit<QueueState, 'failed'>>(
        `SELECT count(*) AS pending,
           coalesce(sum(CASE WHEN state = 'running' THEN 1 ELSE 0 END), 0) AS running,
           min(accepted_at) AS "oldestAcceptedAt"
         FROM tasks WHERE run_at IS NOT NULL`,
      ),
      tx.one<Pick<QueueState, 'failed'>>(
        `SELECT count(*) AS failed FROM tasks
         WHERE run_at IS NULL AND error_message IS NOT NULL`,
      ),
    ]);
    // mutate-ignore constant: a count always has a row
    const { pending = 0, running = 0, oldestAcceptedAt = null } = work ?? {};
    // mutate-ignore constant: a count always has a row
    return { pending, running, oldestAcceptedAt, failed: ended?.failed ?? 0 };
  },
};

type Found = { id: string; content: string | null; metadata: string };

const textsOf = (content: string) =>
  overIds(
    2,
    (ids) => `SELECT id, ${content} AS content, metadata FROM memories
      WHERE project_id = CAST($1 AS bigint) AND id IN (${ids})`,
  );
const findText = textsOf('content');
/** Reading many long texts at once would take seconds, in which the thread does not respond. */
const findShortTexts = textsOf(`CASE WHEN bytes <= ${longBytes} THEN content END`);

/**
 * Returns the texts of the tasks' memories. Null for a memory that was deleted, and for a long text
 * unless there is only one task.
 */
export const readTexts: ShortRead<readonly Lease[], (TaskText | null)[]> = {
  async run(tx, tasks) {
    const texts = new Map<string, TaskText>();
    const find = tasks.length === 1 ? findText : findShortTexts;
    const statements = [...Map.groupBy(tasks, ({ projectId }) => projectId)].flatMap(
      ([projectId, own]) =>
        find(own.map(({ memoryId }) => memoryId)).map((one) => ({ projectId, ...one })),
    );
    await Promise.all(
      statements.map(async ({ projectId, text, ids }) => {
        const values = [projectId, ...ids];
        const found = await tx.all<Found>(text, values);
        for (const { id, content, metadata } of found)
          if (content !== null) texts.set(`${projectId} ${id}`, { content, metadata });
      }),
    );
    return tasks.map(({ projectId, memoryId }) => texts.get(`${projectId} ${memoryId}`) ?? null);
  },
};
