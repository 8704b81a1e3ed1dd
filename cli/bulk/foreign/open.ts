import { CliError } from '../../errors.ts';
import { inputName, readJson, readUtf8 } from '../../terminal/input.ts';
import { isObject } from '../../terminal/json.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { type BatchInput, items, readLines } from '../input.ts';
import type { Line } from '../records.ts';
import { messagesOf } from './chatgpt.ts';
import { type Losses, memoryConverter } from './memories.ts';

export type ForeignFormat = 'mem0' | 'chatgpt' | 'jsonl';

type Foreign = { term: Terminal; path: string; userId: string | undefined; losses: Losses };

/** Converts an export from another service to lines. Reading the lines updates `losses`. */
export async function openForeign(format: ForeignFormat, from: Foreign): Promise<BatchInput> {
  if (format === 'jsonl') return { lines: convertedLines(from), unit: 'line' };
  const parsed = await readJson(from.term, from.path);
  return items(format === 'mem0' ? mem0Items(parsed, from) : chatgptItems(parsed, from));
}

/** Converts each JSON object. Yields other lines unchanged, so that they are reported. */
async function* convertedLines({ term, path, ...options }: Foreign): AsyncGenerator<Line> {
  const convert = memoryConverter({ ...options, source: 'import', nowMs: term.now() });
  for await (const line of readLines(readUtf8(term, path))) {
    const item = parsedLine(line);
    const memory = isObject(item) ? convert(item) : undefined;
    if (memory === undefined) yield line;
    else if (memory !== null) yield { ...line, bytes: Buffer.from(JSON.stringify(memory)) };
  }
}

function parsedLine({ bytes }: Line): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

/** Reads the output of `get_all`: an object with `results`, or a plain list in older versions. */
function* mem0Items(parsed: unknown, { term, path, ...options }: Foreign): Generator<unknown> {
  const list = isObject(parsed) ? (parsed.results ?? parsed.memories) : parsed;
  if (!Array.isArray(list)) throw otherShape(path, 'a list of memories, or an object with results');
  if (isObject(parsed) && Array.isArray(parsed.relations)) {
    options.losses.add('relations', parsed.relations.length);
  }
  const convert = memoryConverter({ ...options, source: 'mem0', nowMs: term.now() });
  for (const item of list) {
    const memory = isObject(item) ? convert(item) : item;
    if (memory !== null) yield memory;
  }
}

function* chatgptItems(parsed: unknown, { term, path, ...options }: Foreign): Generator<unknown> {
  const convert = memoryConverter({ ...options, source: 'chatgpt', nowMs: term.now() });
  if (!Array.isArray(parsed)) throw otherShape(path, 'a list of conversations');
  for (const conversation of parsed) {
    if (!isObject(conversation) || !isObject(conversation.mapping)) {
      throw otherShape(path, 'conversations with a mapping of messages');
    }
    for (const message of messagesOf(conversation, options.losses)) yield convert(message);
  }
}

function otherShape(path: string, expected: string): CliError {
  return new CliError(
    'other_format',
    `${inputName(path)} is not an export in this format: expected ${expected}.`,
  );
}
