import type { Database, Statement } from 'bun:sqlite';
import { matches, necessaryTexts } from '../../memory/filter.ts';
import { createTurns } from '../../turns.ts';
import type { Filter, Position, Storage, StoredMemory } from '../storage.ts';
import { columns, joined } from './row.ts';

type Range = Parameters<Storage['listMemories']>[0];
type Value = string | number;

/** A URL holds more filters than SQLite takes conditions. They spare it rows and decide nothing. */
const maxTexts = 64;

/** Rows of the user that SQLite may pass over in one go, for a filter that lets few through. */
const stretchRows = 512;

/** What a list that lets others in has to know of what they do. */
type Present = {
  get(projectId: number, id: string): StoredMemory | null;
  /** Another number after every change. */
  version(): number;
};

/**
 * Lists by the index on a user's memories. With a filter it reads on through that index until the
 * page is full; SQLite passes over rows that cannot match, and `matches` has the last word.
 */
export function createList(db: Database, present: Present): Storage['listMemories'] {
  const statements = new Map<string, Statement<unknown, Value[]>>();

  function prepare<Row>(sql: string): Statement<Row, Value[]> {
    const known = statements.get(sql) ?? db.prepare(sql);
    // Their number is bounded by what a URL can hold, and a clean start costs little.
    if (statements.size > 100) statements.clear();
    statements.set(sql, known);
    return known as Statement<Row, Value[]>;
  }

  return async (range) => {
    const wanted = conditions(range.filter);
    if (wanted.length > 0) return readThrough(range, wanted);
    const { where, values, order } = bounds(range, null);
    const sql = `SELECT ${columns} FROM ${joined} WHERE ${where} ${order} LIMIT +?`;
    return prepare<StoredMemory>(sql).all(...values, range.limit);
  };

  /** Lets others in between, and goes on after the last memory that was read. */
  async function readThrough(range: Range, wanted: Condition[]): Promise<StoredMemory[]> {
    let page: StoredMemory[] = [];
    let { after } = range;
    let version = present.version();
    const turn = createTurns();
    for (;;) {
      const end = stretchEnd({ ...range, after });
      let others: Promise<void> | undefined;
      for (const memory of readStretch({ ...range, after }, end, wanted)) {
        if (matches(memory, range.filter)) page.push(memory);
        if (page.length === range.limit) return page;
        after = memory;
        others = turn();
        if (others !== undefined) break;
      }
      if (others === undefined) {
        if (end === null) return page;
        after = end;
        others = turn();
      }
      await others;
      const now = present.version();
      if (now !== version) page = stillThere(page, range);
      version = now;
    }
  }

  /** Where the next rows end, by the index alone; null where there are no more than those. */
  function stretchEnd(range: Range): Position | null {
    const { where, values, order } = bounds(range, null);
    const sql = `SELECT m.created_at AS createdAt, m.id FROM memories AS m WHERE ${where} ${order}
      LIMIT 1 OFFSET ${stretchRows - 1}`;
    return prepare<Position>(sql).get(...values);
  }

  function readStretch(range: Range, end: Position | null, wanted: Condition[]) {
    const { where, values, order } = bounds(range, end);
    const all = [where, ...wanted.map(([condition]) => condition)].join(' AND ');
    const sql = `SELECT ${columns} FROM ${joined} WHERE ${all} ${order}`;
    return prepare<StoredMemory>(sql).iterate(...values, ...wanted.map(([, value]) => value));
  }

  /** What was read before others were let in, as it is now. An id may have been imported anew, for
   * another user. */
  function stillThere(page: StoredMemory[], { projectId, userId, filter }: Range): StoredMemory[] {
    const now = page.map(({ id }) => present.get(projectId, id));
    const there = now.filter((memory) => memory !== null);
    return there.filter((memory) => memory.userId === userId && matches(memory, filter));
  }
}

/** The user's memories after `after` up to `end`, in the order of the list. */
function bounds({ projectId, userId, order, after }: Range, end: Position | null) {
  const [direction, beyond] = order === 'desc' ? ['DESC', '<'] : ['ASC', '>'];
  const where = ['m.project_id = +? AND m.user_id = +?'];
  const values: Value[] = [projectId, userId];
  if (after !== null) {
    where.push(`(m.created_at, m.id) ${beyond} (+?, +?)`);
    values.push(after.createdAt, after.id);
  }
  if (end !== null) {
    where.push(`(m.created_at, m.id) ${order === 'desc' ? '>=' : '<='} (+?, +?)`);
    values.push(end.createdAt, end.id);
  }
  const by = `ORDER BY m.created_at ${direction}, m.id ${direction}`;
  return { where: where.join(' AND '), values, order: by };
}

type Condition = [sql: string, value: string];

function conditions({ type, source, externalId, metadata }: Filter): Condition[] {
  const wanted: Condition[] = [];
  if (type !== null) wanted.push(['m.type = +?', type]);
  if (source !== null) wanted.push(['m.source = +?', source]);
  if (externalId !== null) wanted.push(['m.external_id = +?', externalId]);
  const texts = necessaryTexts(metadata).slice(0, maxTexts);
  for (const text of texts) wanted.push(['instr(m.metadata, +?) > 0', text]);
  return wanted;
}
