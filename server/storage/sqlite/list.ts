import type { Database, Statement } from 'bun:sqlite';
import { matches, necessaryTexts } from '../../memory/filter.ts';
import { createTurns } from '../../turns.ts';
import type { Filter, Storage, StoredMemory } from '../storage.ts';
import { columns, joined } from './row.ts';

type Range = Parameters<Storage['listMemories']>[0];
type Value = string | number;

/** A URL holds more filters than SQLite takes conditions. They spare it rows and decide nothing. */
const maxTexts = 64;

/** Each of so many rows comes back whatever it holds, for others to be let in beside a filter that
 * lets few through. */
const passedOver = 512;

/**
 * Lists by the index on a user's memories. With a filter it reads on through that index until the
 * page is full; SQLite passes over rows that cannot match, and `matches` has the last word.
 */
export function createList(db: Database): Storage['listMemories'] {
  const statements = new Map<string, Statement<StoredMemory, Value[]>>();

  function prepare(sql: string): Statement<StoredMemory, Value[]> {
    const known = statements.get(sql) ?? db.prepare<StoredMemory, Value[]>(sql);
    // Their number is bounded by what a URL can hold, and a clean start costs little.
    if (statements.size > 100) statements.clear();
    statements.set(sql, known);
    return known;
  }

  return async (range) => {
    const wanted = conditions(range.filter);
    if (wanted.length > 0) return readThrough(range, wanted);
    const { sql, values } = select(range, wanted);
    return prepare(`${sql} LIMIT +?`).all(...values, range.limit);
  };

  /** Lets others in between, and goes on after the last memory that was read. */
  async function readThrough(range: Range, wanted: Condition[]): Promise<StoredMemory[]> {
    const page: StoredMemory[] = [];
    const turn = createTurns();
    let { after } = range;
    for (;;) {
      const { sql, values } = select({ ...range, after }, wanted);
      let others: Promise<void> | undefined;
      for (const memory of prepare(sql).iterate(...values)) {
        if (matches(memory, range.filter)) page.push(memory);
        if (page.length === range.limit) return page;
        after = memory;
        others = turn();
        if (others !== undefined) break;
      }
      if (others === undefined) return page;
      await others;
    }
  }
}

function select({ projectId, userId, order, after }: Range, wanted: Condition[]) {
  const direction = order === 'desc' ? 'DESC' : 'ASC';
  const where = ['m.project_id = +? AND m.user_id = +?'];
  const values: Value[] = [projectId, userId];
  if (after !== null) {
    where.push(`(m.created_at, m.id) ${order === 'desc' ? '<' : '>'} (+?, +?)`);
    values.push(after.createdAt, after.id);
  }
  if (wanted.length > 0) {
    const all = wanted.map(([condition]) => condition).join(' AND ');
    where.push(`(${all} OR m.seq % ${passedOver} = 0)`);
    values.push(...wanted.map(([, value]) => value));
  }
  const sql = `SELECT ${columns} FROM ${joined} WHERE ${where.join(' AND ')}
    ORDER BY m.created_at ${direction}, m.id ${direction}`;
  return { sql, values };
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
