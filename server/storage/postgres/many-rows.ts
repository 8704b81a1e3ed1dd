import type { Outcome, Statement } from './connection.ts';

/*
 * Joins statements with the same text, of which each changes one row, into statements that change
 * many rows. Starting a statement costs PostgreSQL more than changing a row.
 *
 *   INSERT … VALUES ($1, $2)              ->  INSERT … VALUES ($1, $2), ($3, $4)
 *   UPDATE … WHERE id = CAST($1 AS text)  ->  UPDATE … FROM (VALUES …) AS v (p1) WHERE id = v.p1
 */

export type Call = Statement & { answer(outcome: Outcome): void };

/** The columns that identify a row. They are the first parameters of a statement that is joined. */
const keys: Record<string, readonly string[]> = {
  users: ['project_id', 'user_id'],
  memories: ['project_id', 'user_id', 'id'],
  tasks: ['project_id', 'user_id', 'memory_id'],
};

/** The numbers of rows of a statement: few, so that few statements are prepared. */
const sizes = [64, 16, 4];

/** A row with a longer text is changed alone, so that no statement has many megabytes. */
const maxTextUnits = 16_384; // mutate-ignore constant: affects only speed

/** `returnsKeys` says whether the statement returns the keys of the rows that it has changed. */
type Form = {
  key: readonly string[];
  returnsKeys: boolean;
  texts: ReadonlyMap<number, string>;
};

/** With Citus, a joined UPDATE would run on every shard, a joined INSERT on those of its rows. */
export function joinRows(calls: readonly Call[], { hasCitus }: { hasCitus: boolean }): Call[] {
  return [...Map.groupBy(calls, ({ text }) => text)].flatMap(([text, same]) => {
    const form = hasCitus && isUpdate(text) ? null : formOf(text);
    if (form === null) return same;
    const short = same.filter((call) => !hasLongText(call));
    const joined = apart(short, form).flatMap(inSizes);
    return [...same.filter(hasLongText), ...joined.flatMap((some) => join(some, form))];
  });
}

const isUpdate = (text: string) => /^\s*UPDATE\b/.test(text);

function hasLongText({ values }: Call): boolean {
  return values.some((value) => typeof value === 'string' && value.length > maxTextUnits);
}

/** A statement cannot change a row twice, so a further change of a row goes to a later list. */
function apart(calls: readonly Call[], { key }: Form): Call[][] {
  const lists: Call[][] = [];
  const counts = new Map<string, number>();
  for (const call of calls) {
    // mutate-ignore constant: more lists
    const name = nameOf(call.values.slice(0, key.length));
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    const list = lists[count] ?? [];
    list.push(call);
    lists[count] = list;
  }
  return lists;
}

function inSizes(calls: readonly Call[]): Call[][] {
  if (calls.length === 0) return [];
  const size = sizes.find((one) => one <= calls.length) ?? 1;
  return [calls.slice(0, size), ...inSizes(calls.slice(size))];
}

function join(calls: Call[], { key, returnsKeys, texts }: Form): Call[] {
  const text = texts.get(calls.length);
  if (text === undefined) return calls;
  function answer(outcome: Outcome): void {
    if ('error' in outcome || !returnsKeys) {
      const each = 'error' in outcome ? outcome : { ...outcome, count: 1 };
      for (const one of calls) one.answer(each);
      return;
    }
    const { command } = outcome;
    const found = new Map(outcome.rows.map((row) => [nameOf(key.map((name) => row[name])), row]));
    for (const one of calls) {
      const row = found.get(nameOf(one.values.slice(0, key.length)));
      const rows = row === undefined ? [] : [row];
      one.answer({ command, rows, count: rows.length });
    }
  }
  return [{ text, values: calls.flatMap(({ values }) => values), answer }];
}

const nameOf = (values: readonly unknown[]) => values.join('\0');

const forms = new Map<string, Form | null>();

/** Returns null for a statement that is not joined. */
function formOf(text: string): Form | null {
  const known = forms.get(text);
  if (known !== undefined) return known; // mutate-ignore removal: affects only speed
  const [, verb, table = ''] = /^\s*(INSERT INTO|UPDATE) (\w+)/.exec(text) ?? [];
  const key = keys[table] ?? [];
  const write = key.length === 0 ? null : verb === 'UPDATE' ? update(text, key) : insert(text);
  const form = write === null ? null : createForm(text, key, write);
  forms.set(text, form);
  return form;
}

type Write = (rows: number) => string;

function createForm(text: string, key: readonly string[], write: Write): Form {
  const returns = /\bRETURNING\b/.test(text);
  // Other statements change every row, or fail.
  const returnsKeys = returns || /^\s*UPDATE\b|\bDO NOTHING\b/.test(text);
  const end = returnsKeys ? `${returns ? ',' : ' RETURNING'} ${key.join(', ')}` : '';
  return { key, returnsKeys, texts: new Map(sizes.map((rows) => [rows, write(rows) + end])) };
}

function insert(text: string): Write | null {
  const [, head, row = '', end] = /^(.*\sVALUES )(\([^()]*\))([^$]*)$/s.exec(text) ?? [];
  if (head === undefined) return null;
  const count = new Set(row.match(/\$\d+/g)).size;
  const rowAt = (at: number) => row.replace(/\$(\d+)/g, (_, n) => `$${at * count + Number(n)}`);
  return (rows) => `${head}${list(rows, rowAt)}${end}`;
}

/** An UPDATE is joined if all of its parameters are cast, so that their types are known. */
function update(text: string, key: readonly string[]): Write | null {
  const types: string[] = [];
  const changed = text.replace(/CAST\(\$(\d+) AS (\w+)\)/g, (_, n, type) => {
    types[Number(n) - 1] = type;
    return `v.p${n}`;
  });
  const [set, where, ...more] = changed.split(/\bWHERE\b/);
  const isByKey = key.every((name, at) => where?.includes(`${name} = v.p${at + 1}`));
  if (!isByKey || changed.includes('$') || more.length > 0) return null;
  const cell = (at: number) => `CAST($${at + 1} AS ${types[at % types.length]})`;
  const row = (at: number) => `(${list(types.length, (n) => cell(at * types.length + n))})`;
  const columns = list(types.length, (n) => `p${n + 1}`);
  return (rows) => `${set}FROM (VALUES ${list(rows, row)}) AS v (${columns}) WHERE${where}`;
}

function list(count: number, write: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => write(at)).join(', ');
}
