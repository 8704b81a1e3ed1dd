import type { Order } from '../../../sdk/contract/page.ts';
import { matches, necessaryTexts } from '../../memory/filter.ts';
import { createPage } from '../../memory/page.ts';
import { isExpired } from '../../memory/visibility.ts';
import type { ReadOperation, ShortRead, Tx } from '../engine.ts';
import {
  exportPosition,
  listPosition,
  parseExportPosition,
  parseListPosition,
} from '../position.ts';
import type { Filter, Page, PageRange, Part, Read, StoredMemory } from '../types/memories.ts';
import {
  memoriesWithTasks,
  memoryColumns,
  memoryStatus,
  memoryTime,
  notExpired,
  readContent,
} from './columns.ts';
import { StatementValues } from './statement-values.ts';

export type List = Read & Part & PageRange & { userId: string; filter: Filter; order: Order };

/** The content of a large memory is null, and is read when it is known that it is needed. */
type Row = Omit<StoredMemory, 'content'> & { content: string | null; bytes: number };
/** `end` is the position after which the next rows begin, or null at the end of the list. */
type Batch = { rows: Row[]; end: string | null };

/** A row is used as it is, because copying the rows of a page costs a fifth of a list. */
const hasContent = (row: Row): row is Row & { content: string } => row.content !== null;

async function withContent(tx: Tx, projectId: number, row: Row): Promise<StoredMemory> {
  if (hasContent(row)) return row;
  return { ...row, content: await readContent(tx, projectId, row.userId, row.id) };
}

/** The number of memories that a filter looks at in one statement. */
const filteredRows = 2_000;
/** A larger memory is read by its own statement. */
const largeBytes = 64 * 1024;

/**
 * Returns up to `limit` memories of the user that match the filter, starting after the position
 * `after`. Memories are ordered by creation time, then by id. A page with large texts contains
 * fewer memories.
 *
 * This operation reads a page without a filter, which costs the same, however much is stored. It
 * returns 'long' if the page has a large memory, which must be read in the same snapshot, or if
 * expired memories, of which there may be very many, leave room for later ones; see `listFiltered`.
 */
export const listMemories: ShortRead<List, Page | 'long'> = {
  async run(tx, read) {
    const rows = await listRows(tx, read, { after: read.after, upTo: null });
    const unexpired = rows.filter((row) => !isExpired(row, read.now));
    if (unexpired.length < rows.length && rows.length > read.limit) return 'long';
    const page = createPage(read.limit, listPosition);
    for (const row of unexpired) {
      // mutate-ignore removal: affects only speed
      if (!page.hasRoom(row.bytes)) return page.cut();
      if (!hasContent(row)) return 'long';
      if (!page.add(row)) return page.cut();
    }
    return page.whole();
  },
};

/** Reads any page, such as one with a filter, or one that is 'long' for `listMemories`. */
export const listFiltered: ReadOperation<List, Page> = {
  run: (tx, read) =>
    fillPage(tx, read, listPosition, async (after) => {
      const upTo = await boundary(tx, read, after);
      const rows = await listRows(tx, read, { after, upTo }, (values) => [
        notExpired(values.add(read.now)),
        ...conditions(tx, values, read.filter),
      ]);
      const last = rows.at(-1);
      // mutate-ignore boundary: an empty batch follows
      const isCut = last !== undefined && rows.length > read.limit;
      return { rows, end: isCut ? listPosition(last) : upTo };
    }),
};

/**
 * Returns a page of the project's memories or, if the API key is bound to a user, of that user's
 * memories. The order is stable but unspecified, and each memory appears once.
 */
export const exportMemories: ReadOperation<Read & PageRange, Page> = {
  run: (tx, read) =>
    fillPage(tx, { ...read, filter: null }, exportPosition, async (after) => {
      const { projectId, now, limit, onlyUserId = null } = read;
      const values = new StatementValues();
      const where = [`m.project_id = ${values.bigint(projectId)}`];
      if (onlyUserId !== null) where.push(`m.user_id = ${values.text(onlyUserId)}`);
      if (after !== null) where.push(isBeyond(values, parseExportPosition(after), onlyUserId));
      where.push(notExpired(values.add(now)));
      const rows = await tx.all<Row>(
        `SELECT ${listedColumns({}, values)} FROM ${memoriesWithTasks} WHERE ${where.join(' AND ')}
         ORDER BY m.user_id, m.created_at, m.id LIMIT ${values.bigint(limit + 1)}`,
        values.list,
      );
      return { rows, end: null };
    }),
};

/**
 * Whether a memory comes after the position, in the order of users. Only the first value of each
 * row is cast, because SQLite would use no further column of the index for another one with a cast.
 */
export function isBeyond(
  values: StatementValues,
  [userId, createdAt, id]: readonly [userId: string, createdAt: number, id: string],
  onlyUserId: string | null,
): string {
  if (userId === onlyUserId) {
    return `(m.created_at, m.id) > (${values.bigint(createdAt)}, ${values.add(id)})`;
  }
  const position = [values.text(userId), values.add(createdAt), values.add(id)];
  return `(m.user_id, m.created_at, m.id) > (${position.join(', ')})`;
}

type PageRead = Part & { projectId: number; after: string | null; limit: number };

/** Reads batches until the page is full, or nothing is left. */
async function fillPage(
  tx: Tx,
  read: PageRead & { filter: Filter | null },
  positionOf: (memory: StoredMemory) => string,
  readBatch: (after: string | null) => Promise<Batch>,
): Promise<Page> {
  const page = createPage(read.limit, positionOf);
  let after = read.after;
  for (;;) {
    const { rows, end } = await readBatch(after);
    for (const row of rows) {
      if (read.filter !== null && !matches(row, read.filter)) continue;
      if (!page.hasRoom(row.bytes)) return page.cut();
      if (!page.add(await withContent(tx, read.projectId, row))) return page.cut();
    }
    if (end === null) return page.whole();
    after = end;
  }
}

function listedColumns({ range }: Part, values: StatementValues): string {
  if (range === undefined) {
    return `${memoryColumns}, m.bytes,
      CASE WHEN m.bytes <= ${largeBytes} THEN m.content END AS content`;
  }
  const { offset, length } = range;
  const part = `substr(m.content, CAST(${values.add(offset + 1)} AS integer),
    CAST(${values.add(length)} AS integer))`;
  return `${memoryColumns}, octet_length(${part}) AS bytes, ${part} AS content`;
}

type Bounds = { after: string | null; upTo: string | null };

/** Reads one memory more than the limit, to detect the last page. */
function listRows(
  tx: Tx,
  read: List,
  { after, upTo }: Bounds,
  conditionsOf: (values: StatementValues) => string[] = () => [],
): Promise<Row[]> {
  const { order, limit } = read;
  const values = new StatementValues();
  const columns = listedColumns(read, values);
  const [direction, beyond, within] =
    order === 'desc' ? (['DESC', '<', '>='] as const) : (['ASC', '>', '<='] as const);
  const userId = values.text(read.userId);
  const where = ownRows(read, values, userId);
  if (after !== null) where.push(compared(values, beyond, after));
  if (upTo !== null) where.push(compared(values, within, upTo));
  where.push(...conditionsOf(values));
  return tx.all<Row>(
    `SELECT ${columns} FROM ${tx.dialect.memoriesWithTasks(userId)} WHERE ${where.join(' AND ')}
     ORDER BY m.created_at ${direction}, m.id ${direction}
     LIMIT ${values.bigint(limit + 1)}`,
    values.list,
  );
}

/** Returns the position of the last memory that the next statement looks at; null at the end. */
async function boundary(tx: Tx, read: List, after: string | null): Promise<string | null> {
  const values = new StatementValues();
  const where = ownRows(read, values, values.text(read.userId));
  const [direction, beyond] = read.order === 'desc' ? ['DESC', '<'] : ['ASC', '>'];
  if (after !== null) where.push(compared(values, beyond, after));
  const last = await tx.one<Pick<StoredMemory, 'createdAt' | 'id'>>(
    `SELECT m.created_at AS "createdAt", m.id FROM memories AS m WHERE ${where.join(' AND ')}
     ORDER BY m.created_at ${direction}, m.id ${direction} LIMIT 1 OFFSET ${filteredRows - 1}`,
    values.list,
  );
  return last === undefined ? null : listPosition(last);
}

function ownRows({ projectId }: List, values: StatementValues, userId: string): string[] {
  return [`m.project_id = ${values.bigint(projectId)}`, `m.user_id = ${userId}`];
}

function compared(values: StatementValues, operator: string, position: string): string {
  const [createdAt, id] = parseListPosition(position);
  return `(m.created_at, m.id) ${operator} (${values.bigint(createdAt)}, ${values.add(id)})`;
}

/**
 * Conditions that every matching memory meets; `matches` then applies the exact filter. They have
 * few texts, because PostgreSQL keeps a plan for each on every connection.
 */
function conditions({ dialect }: Tx, values: StatementValues, filter: Filter): string[] {
  const { type, status, source, externalId, from, to, metadata } = filter;
  const unlessNull = (parameter: string, comparison: string) =>
    `(${parameter} IS NULL OR ${comparison} ${parameter})`;
  return [
    unlessNull(values.text(type), 'm.type ='),
    unlessNull(values.text(source), 'm.source ='),
    unlessNull(values.text(externalId), 'm.external_id ='),
    unlessNull(values.text(status), `${memoryStatus} =`),
    unlessNull(values.bigint(from), `${memoryTime} >=`),
    unlessNull(values.bigint(to), `${memoryTime} <`),
    ...necessaryTexts(metadata).map((text) => dialect.contains('m.metadata', values.text(text))),
  ];
}
