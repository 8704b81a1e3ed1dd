import { bucketOf } from '../../../bucket.ts';
import { isUnfiltered, matches, necessaryTexts, noFilter } from '../../../memory/filter.ts';
import { takePage } from '../../../memory/page.ts';
import { reportProgress } from '../../../threads/serve.ts';
import { listPosition, parseListPosition, parsePosition } from '../../position.ts';
import type { Page, Storage, StoredMemory } from '../../storage.ts';
import {
  memoryColumns,
  memoryStatus,
  memoryTime,
  notExpired,
  partColumns,
  partValues,
  withTask,
} from '../row.ts';
import { query, type Run, textArray } from '../statement.ts';

type ListRead = Parameters<Storage['listMemories']>[0];
type ExportRead = Parameters<Storage['exportMemories']>[0];

/** A row of a page. `total` is the number of rows found, including rows that were not sent. */
export type Row = StoredMemory & { bucket: number; octets: number; total: number };

/** The number of rows per fetch if a filter may reject most of them. */
const filteredRows = 256;
/**
 * Reading stops after this many bytes of text. A page holds about 4 Mi UTF-16 units, and one unit
 * is at most three bytes in UTF-8.
 */
const maxOctets = 3 * 4 * 1024 * 1024;

/**
 * Lists a user's memories in index order. The database skips rows that cannot match, and `matches`
 * checks the rest. A list with a filter may run several statements, so it needs a snapshot.
 */
export async function readList(run: Run, read: ListRead): Promise<Page> {
  // mutate-ignore constant: the additional row is not returned
  const batch = isUnfiltered(read.filter) ? read.limit + 1 : filteredRows;
  const rows = await gather(
    (after) => queryList(run, { ...read, after }, batch),
    { ...read, batch, matches: (row) => matches(row, read.filter) },
    listPosition,
  );
  return takePage(rows, read.limit, listPosition);
}

/**
 * Exports one user's memories ordered by creation time, or all of a project's memories ordered by
 * bucket and id.
 */
export async function readExport(run: Run, read: ExportRead): Promise<Page> {
  const { onlyUserId = null } = read;
  if (onlyUserId !== null) {
    return readList(run, { ...read, userId: onlyUserId, filter: noFilter, order: 'asc' });
  }
  const batch = read.limit + 1;
  const rows = await gather(
    (after) => queryExport(run, { ...read, after }, batch),
    { ...read, batch, matches: () => true },
    exportPosition,
  );
  return takePage(rows, read.limit, (row) => exportPosition(row as Row));
}

/** Reads rows until there is one more than the page needs, or enough text to fill the page. */
export async function gather<Found extends Row>(
  readRows: (after: string | null) => Promise<Found[]>,
  page: { after: string | null; limit: number; batch: number; matches(row: Found): boolean },
  positionOf: (row: Found) => string,
): Promise<Found[]> {
  const gathered: Found[] = [];
  let { after } = page;
  let octets = 0;
  for (;;) {
    const rows = await readRows(after);
    for (const row of rows) {
      if (!page.matches(row)) continue;
      gathered.push(row);
      octets += row.octets;
    }
    const last = rows.at(-1);
    const isEnd = last === undefined || (last.total < page.batch && rows.length === last.total);
    const isFull = gathered.length > page.limit || (octets > maxOctets && gathered.length > 1);
    if (isEnd || isFull) return gathered;
    after = positionOf(last);
    reportProgress();
  }
}

function exportPosition({ bucket, id }: Row): string {
  return `${bucket}.${id}`;
}

/** Adds two columns to `source`: the number of rows, and the amount of text before each row. */
export function measured(
  source: string,
  columns: string,
  order: string,
  contentOctets = wholeContent.octets,
): string {
  return `(SELECT *, count(*) OVER () AS total,
      sum(octets) OVER (ORDER BY ${order}) - octets AS before
    FROM (SELECT ${columns}, ${contentOctets} + octet_length(m.metadata) AS octets
      ${source}) AS s)`;
}

/** Selects the rows that fit into one response, but always at least one row. */
export const isShort = `before <= ${maxOctets}`;

/** For each order, a creation time that sorts before every memory. */
const beforeAll = { asc: Number.MIN_SAFE_INTEGER, desc: Number.MAX_SAFE_INTEGER };

const wholeContent = { columns: memoryColumns, octets: 'octet_length(m.content)' };
/** A code point has at most four bytes. */
const partOfContent = {
  columns: partColumns('$15', '$16'),
  octets: 'least(octet_length(m.content), $16::int4 * 4)',
};

const listTexts = { asc: listText('ASC', '>'), desc: listText('DESC', '<') };
const partTexts = {
  asc: listText('ASC', '>', partOfContent),
  desc: listText('DESC', '<', partOfContent),
};

function listText(direction: 'ASC' | 'DESC', beyond: string, content = wholeContent): string {
  const source = `FROM memories AS m
    WHERE m.project_id = $1::int8 AND m.bucket = $2::int2 AND m.user_id = $3
      AND (m.created_at, m.id) ${beyond} ($4::int8, $5)
      AND ($6::text IS NULL OR m.type = $6) AND ($7::text IS NULL OR m.source = $7)
      AND ($8::text IS NULL OR m.external_id = $8)
      AND ($9::int8 IS NULL OR ${memoryTime} >= $9::int8)
      AND ($10::int8 IS NULL OR ${memoryTime} < $10::int8)
      AND NOT EXISTS (SELECT FROM unnest($11::text[]) AS w WHERE position(w IN m.metadata) = 0)
      AND ($13::text IS NULL OR $13 = coalesce((SELECT ${memoryStatus} FROM tasks AS t
        WHERE t.project_id = $1::int8 AND t.bucket = $2::int2 AND t.memory_id = m.id
          AND t.kind = 'index'), 'complete'))
      AND ${notExpired('$12::int8')}
    ORDER BY m.created_at ${direction}, m.id ${direction} LIMIT $14::int4`;
  const order = `created_at ${direction}, id ${direction}`;
  const rows = measured(source, 'm.*', order, content.octets);
  // If `t.bucket = m.bucket` were added, the planner would account for the bucket twice and read
  // all tasks in the bucket for each memory.
  return `SELECT m.bucket, m.octets::float8 AS octets, m.total::float8 AS total, ${content.columns}
    FROM ${rows} AS m LEFT JOIN tasks AS t ON t.project_id = $1::int8 AND t.bucket = $2::int2
      AND t.memory_id = m.id AND t.kind = 'index'
    WHERE m.${isShort} ORDER BY m.created_at ${direction}, m.id ${direction}`;
}

function queryList(run: Run, read: ListRead, batch: number): Promise<Row[]> {
  const { projectId, userId, now, filter, order, after, range } = read;
  const [time, id] = after === null ? [beforeAll[order], ''] : parseListPosition(after);
  return query(
    run,
    (range === undefined ? listTexts : partTexts)[order],
    projectId,
    bucketOf(userId),
    userId,
    time,
    id,
    filter.type,
    filter.source,
    filter.externalId,
    filter.from,
    filter.to,
    textArray(necessaryTexts(filter.metadata)),
    now,
    filter.status,
    batch,
    ...(range === undefined ? [] : partValues(range)),
  );
}

/**
 * Selects keys first and joins the rows afterwards. Otherwise, each machine of a cluster would send
 * a whole page, and the join would read all tasks.
 */
const exportText = `SELECT m.bucket, s.octets::float8 AS octets, s.total::float8 AS total,
    ${memoryColumns}
  FROM ${measured(
    `FROM memories AS m
     WHERE m.project_id = $1::int8 AND (m.bucket, m.id) > ($2::int2, $3)
       AND ${notExpired('$4::int8')}
     ORDER BY m.bucket, m.id LIMIT $5::int4`,
    'm.project_id, m.bucket, m.id',
    'bucket, id',
  )} AS s
  JOIN memories AS m ON m.project_id = s.project_id AND m.bucket = s.bucket AND m.id = s.id
  ${withTask}
  WHERE s.${isShort} ORDER BY m.bucket, m.id`;

function queryExport(
  run: Run,
  { projectId, now, after }: ExportRead,
  batch: number,
): Promise<Row[]> {
  const [bucket = 0, id = ''] =
    after === null ? [-1, ''] : parsePosition(after, /^(\d{1,4})\.(mem_[\w-]+)$/);
  return query(run, exportText, projectId, bucket, id, now, batch);
}
