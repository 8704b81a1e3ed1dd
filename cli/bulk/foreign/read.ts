import { CliError } from '../../errors.ts';
import { inputName, parseJson, readBytes } from '../../terminal/input.ts';
import { isObject } from '../../terminal/json.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { type BulkInput, itemsOf } from '../input.ts';
import { messagesOf } from './chatgpt.ts';
import { addLoss, type Losses, toMemory } from './memories.ts';

type ForeignFormat = 'mem0' | 'chatgpt';

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
  const memories = found.map((item) => (isObject(item) ? toMemory(item, options) : item));
  const lost = [...losses].map(([what, count]) => `${what}: ${count}`).join(', ');
  return { ...itemsOf(memories), remarks: () => (lost === '' ? [] : [`Not imported: ${lost}.`]) };
}

/** Returns the memories or messages of the parsed export; undefined if it has another format. */
function itemsIn(format: ForeignFormat, parsed: unknown, losses: Losses): unknown[] | undefined {
  if (format === 'chatgpt') {
    if (!Array.isArray(parsed) || !parsed.every((one) => isObject(one?.mapping))) return undefined;
    return parsed.flatMap((one) => [...messagesOf(one, losses)]);
  }
  // The output of `get_all`: a page with `results`, or a plain list in older versions.
  const page = isObject(parsed) ? parsed : { results: parsed };
  const list = page.results ?? page.memories;
  if (!Array.isArray(list)) return undefined;
  if (Array.isArray(page.relations)) addLoss(losses, 'relations', page.relations.length);
  addLoss(losses, 'memories on other pages', Number(page.count) - list.length);
  return list;
}
