import { CliError } from '../../errors.ts';
import { inputName, parseJson, readBytes } from '../../terminal/input.ts';
import { isObject } from '../../terminal/json.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { type BulkInput, itemsOf } from '../input.ts';
import { messagesOf } from './chatgpt.ts';
import { addLoss, type Losses, toMemory } from './memories.ts';

/** The formats, with the fields whose names differ from mem0's. */
const renamed = {
  mem0: {},
  chatgpt: {},
  letta: { text: 'memory' },
  supermemory: { content: 'memory', createdAt: 'created_at', updatedAt: 'updated_at' },
  zep: { uuid: 'id', content: 'memory', role: 'name', role_type: 'role' },
} satisfies Record<string, Record<string, string>>;

type ForeignFormat = keyof typeof renamed;

/** Converts an export from another service to memories. A remark says what cannot be imported. */
export async function readForeign(
  term: Terminal,
  format: ForeignFormat,
  path: string,
  userId: string | undefined,
): Promise<BulkInput> {
  const losses: Losses = new Map();
  const options = { source: format, userId, nowMs: term.now(), losses };
  const parsed = await parseJson(readBytes(term, path), path);
  const found = itemsIn(format, parsed, losses);
  if (found === undefined) {
    const message = `${inputName(path)} is not an export from ${format}.`;
    throw new CliError('other_format', message, 'To show the formats: memory import --help');
  }
  // Not an object, which has names such as "constructor".
  const names = new Map<string, string>(Object.entries(renamed[format]));
  const memories = found.map((item) => {
    if (!isObject(item)) return item;
    const fields = Object.entries(item).map(([name, value]) => [names.get(name) ?? name, value]);
    return toMemory(Object.fromEntries(fields), options);
  });
  const lost = [...losses].map(([what, count]) => `${what}: ${count}`).join(', ');
  return { ...itemsOf(memories), remarks: () => (lost === '' ? [] : [`Not imported: ${lost}.`]) };
}

/** Returns the memories or messages of the parsed export; undefined if it has another format. */
function itemsIn(format: ForeignFormat, parsed: unknown, losses: Losses): unknown[] | undefined {
  if (format === 'chatgpt') {
    if (!Array.isArray(parsed) || !parsed.every((one) => isObject(one?.mapping))) return undefined;
    return parsed.flatMap((one) => [...messagesOf(one, losses)]);
  }
  // A page with the list under the name that the service gives it, or a plain list.
  const page = isObject(parsed) ? parsed : { results: parsed };
  const list = page.results ?? page.memories ?? page.episodes;
  if (!Array.isArray(list)) return undefined;
  if (Array.isArray(page.relations)) addLoss(losses, 'relations', page.relations.length);
  const count = page.count ?? Object(page.pagination).totalItems;
  addLoss(losses, 'memories on other pages', Number(count) - list.length);
  return list;
}
