import { CliError } from '../errors.ts';
import { binaryFile, decodeText, inputName, parseJson, readUtf8 } from '../terminal/input.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { quoted } from '../terminal/text.ts';
import { isBad, parseRecord } from './records.ts';

/** The noun for an entry of the input in messages: an array has items, a file has lines. */
export type Unit = 'line' | 'item';

export type BatchInput = { lines: AsyncIterable<Line>; totalBytes?: number; unit: Unit };

type Held = 'records' | 'memories';

/**
 * The first two lines identify the file format; `lines` includes them. `isBinary` is true if the
 * bytes that were read to find these lines contain NUL.
 */
type Opened = {
  first: Line | undefined;
  second: Line | undefined;
  isBinary: boolean;
  lines: AsyncIterable<Line>;
};

/** Opens a file, or stdin for `-`, with one record per line or a JSON array. */
export async function openInput(term: Terminal, path: string, held: Held): Promise<BatchInput> {
  const { first, second, isBinary, lines } = await openLines(term, path);
  if (first === undefined && held === 'memories') return { lines, unit: 'line' };
  if (first === undefined) throw empty(path);
  const [begin, next] = [beginOf(first), beginOf(second)];
  // In an object that spans several lines, the second line begins with a quoted name.
  const continues = begin.startsWith('{') && next.startsWith('"') && !isWhole(first);
  if (begin.startsWith('[') || continues) {
    return items([await readWhole(lines, path)].flat());
  }
  const isJson = begin.startsWith('{') || next.startsWith('{');
  if (isBinary && !isJson) throw binaryFile(path);
  if (held === 'records' && !isJson) throw aText(path);
  if (isHeldBy(first, held === 'records' ? 'memories' : 'records')) throw otherLines(path, held);
  const size = path === '-' ? {} : { totalBytes: Bun.file(path).size };
  return { lines, unit: 'line', ...size };
}

export async function openRecords(
  term: Terminal,
  path: string,
): Promise<BatchInput | { record: unknown }> {
  const { first, second, lines } = await openLines(term, path);
  if (first === undefined) throw empty(path);
  // If the first line is a complete JSON value and a second line follows, the file is JSON lines.
  const manyLines = second !== undefined && isWhole(first);
  if (/\.(jsonl|ndjson)$/i.test(path) || manyLines) return { lines, unit: 'line' };
  const record = await readWhole(lines, path);
  return Array.isArray(record) ? items(record) : { record };
}

async function openLines(term: Terminal, path: string): Promise<Opened> {
  let isBinary = false;
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for await (const piece of readUtf8(term, path)) {
      isBinary ||= piece.includes(0);
      yield piece;
    }
  }
  const rest = readLines(pieces());
  const head: Line[] = [];
  for (let next = await rest.next(); !next.done; next = await rest.next()) {
    head.push(next.value);
    if (head.length === 2) break;
  }
  async function* lines(): AsyncGenerator<Line> {
    yield* head;
    yield* rest;
  }
  return { first: head[0], second: head[1], isBinary, lines: lines() };
}

async function readWhole(lines: AsyncIterable<Line>, path: string): Promise<unknown> {
  const pieces: Uint8Array[] = [];
  for await (const { bytes } of lines) pieces.push(bytes, Uint8Array.of(newline));
  return parseJson(decodeText(Buffer.concat(pieces), path), path);
}

/** Returns the values as numbered lines. */
export function items(values: Iterable<unknown>): BatchInput {
  async function* lines(): AsyncGenerator<Line> {
    let number = 0;
    for (const value of values) {
      number += 1;
      yield { number, end: 0, bytes: Buffer.from(JSON.stringify(value)), tooLong: false };
    }
  }
  return { lines: lines(), unit: 'item' };
}

function isWhole({ bytes }: Line): boolean {
  try {
    return typeof JSON.parse(new TextDecoder().decode(bytes)) === 'object';
  } catch {
    return false;
  }
}

/** Returns the start of a line, without surrounding whitespace or a byte order mark. */
function beginOf(line: Line | undefined): string {
  return new TextDecoder().decode(line?.bytes.subarray(0, 1_000)).trim();
}

/** Distinguishes records, which have data, from memories, which have an id and content. */
function isHeldBy(line: Line, held: Held): boolean {
  const parsed = parseRecord(line, undefined);
  if (isBad(parsed) || typeof parsed.item !== 'object' || parsed.item === null) return false;
  const isMemory = 'id' in parsed.item && 'content' in parsed.item;
  return held === 'memories' ? isMemory : !isMemory && 'data' in parsed.item;
}

function empty(path: string): CliError {
  return new CliError('empty', `${inputName(path)} is empty.`);
}

function otherLines(path: string, held: Held): CliError {
  const file = path === '-' ? '-' : quoted(path);
  if (held === 'records') {
    const message = `${inputName(path)} contains memories from an export, not records.`;
    return new CliError('not_records', message, `To import them: memory import ${file}`);
  }
  const message = `${inputName(path)} contains records to ingest, not memories from an export.`;
  return new CliError('not_memories', message, `To ingest them: memory ingest batch ${file}`);
}

function aText(path: string): CliError {
  const file = path === '-' ? '-' : quoted(path);
  const message = `${inputName(path)} is not JSON: expected one record per line.`;
  const hint = `To ingest it as one document: memory ingest document ${file} --user <id>`;
  return new CliError('not_jsonl', message, hint);
}

/** A line of a file: its number, counted from 1, and the byte offset of its end. */
export type Line = { number: number; end: number; bytes: Uint8Array; tooLong: boolean };

/** The maximum line length, above any body limit. Longer lines are never held in memory. */
const maxLineBytes = 32 * 1024 * 1024;
const newline = 10;

/**
 * Splits bytes into lines, one at a time, so memory use does not depend on the file size. Skips
 * blank lines.
 */
export async function* readLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  let number = 0;
  let offset = 0;
  let pieces: Uint8Array[] = [];
  let size = 0;
  const hold = (piece: Uint8Array) => {
    size += piece.length;
    if (size <= maxLineBytes) pieces.push(piece);
    else pieces = [];
  };
  const take = (end: number): Line => {
    const tooLong = size > maxLineBytes;
    const [only = new Uint8Array()] = pieces;
    const bytes = pieces.length <= 1 ? only : Buffer.concat(pieces);
    pieces = [];
    size = 0;
    number += 1;
    return { number, end, bytes, tooLong };
  };
  for await (const chunk of source) {
    let start = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, start)) {
      hold(chunk.subarray(start, at));
      start = at + 1;
      const line = take(offset + start);
      if (!isBlank(line)) yield line;
    }
    hold(chunk.subarray(start));
    offset += chunk.length;
  }
  const last = take(offset);
  if (!isBlank(last)) yield last;
}

function isBlank({ bytes, tooLong }: Line): boolean {
  return !tooLong && bytes.every((byte) => byte === 32 || byte === 9 || byte === 13);
}
