import type { Database, Statement } from 'bun:sqlite';
import { matches, necessaryTexts } from '../../../memory/filter.ts';
import { takePage } from '../../../memory/page.ts';
import { reportProgress } from '../../../threads/serve.ts';
import { listPosition, parseListPosition, parsePosition } from '../../position.ts';
import type { Filter, Page, Storage, StoredMemory } from '../../storage.ts';
import {
  memoriesWithTasks,
  memoryColumns,
  memoryStatus,
  memoryTime,
  notExpired,
  partColumns,
  partValues,
} from '../row.ts';

type Value = string | number;
type ListRead = Parameters<Storage['listMemories']>[0];
type ExportRead = Parameters<Storage['exportMemories']>[0];

export type PageReads = {
  listMemories(read: ListRead): Page;
  exportMemories(read: ExportRead): Page;
};

/**
 * Filtered statements also return these rows, because progress cannot be reported while SQLite
 * skips rows. The modulus is prime, so that if several users write in turn, each of them has such
 * rows.
 */
const isSample = 'm.row_id % 2003 = 0';

/**
 * Lists a user's memories in index order, until the page is full. SQLite skips most rows that
 * cannot match a filter, and `matches` checks the rest. One statement reads one snapshot, so a page
 * is consistent.
 */
export function createPageReads(db: Database): PageReads {
  const prepare = createStatements(db);

  function* matching(read: ListRead): Generator<StoredMemory> {
    const { sql, values } = listStatement(read);
    for (const memory of prepare<StoredMemory>(sql).iterate(...values)) {
      reportProgress();
      if (matches(memory, read.filter)) yield memory;
    }
  }

  return {
    listMemories: (read) => takePage(matching(read), read.limit, listPosition),
    exportMemories: (read) => {
      const { onlyUserId = null } = read;
      if (onlyUserId !== null) {
        // Use the index by creation time, in which a user's memories are adjacent.
        const list = { ...read, userId: onlyUserId, filter: null, order: 'asc' as const };
        const { sql, values } = listStatement(list);
        return takePage(prepare<StoredMemory>(sql).iterate(...values), read.limit, listPosition);
      }
      const sql = `SELECT ${memoryColumns} FROM ${memoriesWithTasks}
        WHERE m.project_id = +? AND m.id > +? AND ${notExpired} ORDER BY m.id`;
      const [after = ''] = read.after === null ? [] : parsePosition(read.after, /^(mem_[\w-]+)$/);
      const rows = prepare<StoredMemory>(sql).iterate(read.projectId, after, read.now);
      return takePage(rows, read.limit, ({ id }) => id);
    },
  };
}

function createStatements(db: Database) {
  const statements = new Map<string, Statement<unknown, Value[]>>();
  return <Row>(sql: string): Statement<Row, Value[]> => {
    const known = statements.get(sql) ?? db.prepare(sql);
    // Clear the whole cache if it is full. Preparing the statements again is cheap.
    if (statements.size > 100) statements.clear();
    statements.set(sql, known);
    return known as Statement<Row, Value[]>;
  };
}

type Listed = Pick<ListRead, 'projectId' | 'now' | 'order' | 'after' | 'range'> & {
  userId: string;
  filter: Filter | null;
};

function listStatement({ projectId, userId, now, filter, order, after, range }: Listed) {
  const [direction, beyond] = order === 'desc' ? ['DESC', '<'] : ['ASC', '>'];
  const where = ['m.project_id = +?', 'm.user_id = +?'];
  const columns = range === undefined ? memoryColumns : partColumns;
  const part = range === undefined ? [] : partValues(range);
  const values: Value[] = [...part, projectId, userId];
  if (after !== null) {
    where.push(`(m.created_at, m.id) ${beyond} (+?, +?)`);
    values.push(...parseListPosition(after));
  }
  const wanted = filter === null ? [] : conditions(filter);
  // mutate-ignore constant: matches() filters the rows
  if (wanted.length > 0) {
    where.push(`(${wanted.map(([condition]) => condition).join(' AND ')} OR ${isSample})`);
    values.push(...wanted.map(([, value]) => value));
  }
  where.push(notExpired);
  values.push(now);
  const sql = `SELECT ${columns} FROM ${memoriesWithTasks} WHERE ${where.join(' AND ')}
    ORDER BY m.created_at ${direction}, m.id ${direction}`;
  return { sql, values };
}

function conditions(filter: Filter): [string, Value][] {
  const { type, status, source, externalId, from, to, metadata } = filter;
  const wanted: [string, Value][] = [];
  if (type !== null) wanted.push(['m.type = +?', type]);
  if (status !== null) wanted.push([`${memoryStatus} = +?`, status]);
  if (source !== null) wanted.push(['m.source = +?', source]);
  if (externalId !== null) wanted.push(['m.external_id = +?', externalId]);
  if (from !== null) wanted.push([`${memoryTime} >= +?`, from]);
  if (to !== null) wanted.push([`${memoryTime} < +?`, to]);
  for (const text of necessaryTexts(metadata)) {
    // mutate-ignore sql: matches() filters the rows
    wanted.push(['instr(m.metadata, +?) > 0', text]);
  }
  return wanted;
}
