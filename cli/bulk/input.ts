import { CliError } from '../errors.ts';
import { binaryFile, inputName, parseJson, readUtf8 } from '../terminal/input.ts';
import { isObject } from '../terminal/json.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { quoted } from '../terminal/text.ts';
import { type Line, parseRecord } from './records.ts';

/** What messages call one entry: an `item` of a JSON array, or a `line` of JSON Lines. */
export type Unit = 'line' | 'item';

export type BatchInput = {
  lines: AsyncIterable<Line>;
  totalBytes?: number | undefined;
  unit: Unit;
};

type Held = 'records' | 'memories';

/** Opens a file, or stdin for `-`, that contains one record per line or a JSON array. */
export async function openInput(term: Terminal, path: string, held: Held): Promise<BatchInput> {
  const { first, second, isBinary, lines } = await openLines(term, path);
  if (first === undefined && held === 'records') throw empty(path);
  const [begin, next] = [first, second].map(beginOf);
  // In an object that spans several lines, the second line begins with a quoted name.
  const continues = begin === '{' && next === '"' && !isWhole(first);
  if (begin === '[' || continues) return items([await readWhole(lines, path)].flat());
  const isJson = begin === '{' || next === '{';
  if (isBinary && !isJson) throw binaryFile(path);
  if (first !== undefined) rejectOther(first, held, isJson, path);
  return { lines, unit: 'line', totalBytes: path === '-' ? undefined : Bun.file(path).size };
}

/** Opens a file that contains records as JSON Lines, or any JSON, which may span several lines. */
export async function openRecords(
  term: Terminal,
  path: string,
): Promise<BatchInput | { json: unknown }> {
  const { first, second, lines } = await openLines(term, path);
  if (first === undefined) throw empty(path);
  // If the first line is a complete JSON value and a second line follows, the file is JSON Lines.
  const manyLines = second !== undefined && isWhole(first);
  if (/\.(jsonl|ndjson)$/i.test(path) || manyLines) return { lines, unit: 'line' };
  return { json: await readWhole(lines, path) };
}

/**
 * Reads the first two lines, which identify the file format; `lines` includes them. `isBinary` is
 * true if the bytes that were read to find these lines contain NUL.
 */
async function openLines(term: Terminal, path: string) {
  let isBinary = false;
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for await (const piece of readUtf8(term, path)) {
      isBinary ||= piece.includes(0);
      yield piece;
    }
  }
  const rest = readLines(pieces());
  const { value: first } = await rest.next();
  const { value: second } = await rest.next();
  async function* lines(): AsyncGenerator<Line> {
    if (first !== undefined) yield first;
    if (second !== undefined) yield second;
    yield* rest;
  }
  return { first, second, isBinary, lines: lines() };
}

async function readWhole(lines: AsyncIterable<Line>, path: string): Promise<unknown> {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    let last = 1;
    for await (const { number, bytes } of lines) {
      // Restores the blank lines, so that errors report the line in the file.
      yield Buffer.alloc(number - last, newline);
      yield bytes;
      last = number;
    }
  }
  return parseJson(pieces(), path);
}

/** Returns the values as numbered lines. */
export function items(values: Iterable<unknown>): BatchInput {
  async function* lines(): AsyncGenerator<Line> {
    let number = 0;
    for (const value of values) {
      number += 1;
      yield { number, bytes: Buffer.from(JSON.stringify(value)), tooLong: false };
    }
  }
  return { lines: lines(), unit: 'item' };
}

function isWhole(line: Line | undefined): boolean {
  try {
    return typeof JSON.parse(new TextDecoder().decode(line?.bytes)) === 'object';
  } catch {
    return false;
  }
}

/** Returns the first character of a line, without whitespace or a byte order mark. */
function beginOf(line: Line | undefined): string | undefined {
  return new TextDecoder().decode(line?.bytes.subarray(0, 1_000)).trim()[0];
}

/** Rejects a file that another command accepts: plain text, or lines of the other kind. */
function rejectOther(first: Line, held: Held, isJson: boolean, path: string): void {
  const file = quoted(path);
  if (held === 'records' && !isJson) {
    const message = `${inputName(path)} is not JSON: expected one record per line.`;
    const hint = `To ingest it as one document: memory ingest document ${file} --user <id>`;
    throw new CliError('not_jsonl', message, hint);
  }
  // Records have data; memories have an id and content.
  const parsed = parseRecord(first, undefined);
  const item = 'item' in parsed && isObject(parsed.item) ? parsed.item : {};
  const isMemory = 'id' in item && 'content' in item;
  if (held === 'records' && isMemory) {
    const message = `${inputName(path)} contains memories from an export, not records.`;
    throw new CliError('not_records', message, `To import them: memory import ${file}`);
  }
  if (held === 'memories' && !isMemory && 'data' in item) {
    const message = `${inputName(path)} contains records to ingest, not memories from an export.`;
    throw new CliError('not_memories', message, `To ingest them: memory ingest batch ${file}`);
  }
}

function empty(path: string): CliError {
  return new CliError('empty', `${inputName(path)} is empty.`);
}

/** The maximum line length, above the default body limit. Longer lines are never held in memory. */
const maxLineBytes = 32 * 1024 * 1024;
const newline = 10;

/**
 * Splits bytes into lines, one at a time, so memory use does not depend on the file size. Skips
 * blank lines.
 */
export async function* readLines(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<Line, undefined> {
  let [number, size] = [0, 0];
  let pieces: Uint8Array[] = [];
  function hold(piece: Uint8Array): void {
    size += piece.length;
    if (size <= maxLineBytes) pieces.push(piece);
    else pieces = [];
  }
  function take(): Line | undefined {
    const tooLong = size > maxLineBytes;
    const [first = new Uint8Array()] = pieces;
    // mutate-ignore boundary: the result is the same for one piece
    const bytes = pieces.length <= 1 ? first : Buffer.concat(pieces);
    pieces = [];
    size = 0;
    number += 1;
    return tooLong || !isBlank(bytes) ? { number, bytes, tooLong } : undefined;
  }
  for await (const chunk of source) {
    let start = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, start)) {
      hold(chunk.subarray(start, at));
      start = at + 1;
      const line = take();
      if (line !== undefined) yield line;
    }
    hold(chunk.subarray(start));
  }
  const last = take();
  if (last !== undefined) yield last;
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 32 || byte === 9 || byte === 13);
}
