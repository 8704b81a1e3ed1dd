import { CliError } from '../../errors.ts';
import { inputName, readJson } from '../../terminal/input.ts';
import { isObject } from '../../terminal/json.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { type BulkInput, itemsOf } from '../input.ts';
import { messagesOf } from './chatgpt.ts';
import { addLoss, type Losses, memoryConverter } from './memories.ts';

export type ForeignFormat = 'mem0' | 'chatgpt';

/** Converts an export from another service to memories. `losses` says what cannot be imported. */
export async function readForeign(
  term: Terminal,
  format: ForeignFormat,
  path: string,
  userId: string | undefined,
): Promise<{ input: BulkInput; losses: string[] }> {
  const losses: Losses = new Map();
  const convert = memoryConverter({ source: format, userId, nowMs: term.now(), losses });
  const found = itemsIn(await readJson(term, path), losses)[format];
  if (found === undefined) {
    const message = `${inputName(path)} is not an export from ${format}.`;
    throw new CliError('other_format', message, 'To show the formats: memory import --help');
  }
  const memories = found.map((item) => (isObject(item) ? convert(item) : item));
  const input = itemsOf(memories);
  const lost = [...losses].map(([what, count]) => `${what}: ${count}`).join(', ');
  return { input, losses: lost === '' ? [] : [`Not imported: ${lost}.`] };
}

/** Returns the memories or messages of the parsed export; undefined if it has another format. */
function itemsIn(parsed: unknown, losses: Losses): Record<ForeignFormat, unknown[] | undefined> {
  // The output of `get_all`: a page with `results`, or a plain list in older versions.
  const list = isObject(parsed) ? (parsed.results ?? parsed.memories) : parsed;
  const conversations = Array.isArray(parsed) ? parsed.filter(isObject) : [];
  const isChats =
    Array.isArray(parsed) && parsed.every((one) => isObject(one) && isObject(one.mapping));
  if (isObject(parsed) && Array.isArray(parsed.relations)) {
    addLoss(losses, 'relations', parsed.relations.length);
  }
  if (isObject(parsed) && Array.isArray(list)) {
    addLoss(losses, 'memories on other pages', Number(parsed.count) - list.length);
  }
  return {
    mem0: Array.isArray(list) ? list : undefined,
    chatgpt: isChats ? conversations.flatMap((one) => [...messagesOf(one, losses)]) : undefined,
  };
}
