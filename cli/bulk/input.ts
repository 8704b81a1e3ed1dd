import type { RecordType } from '../../sdk/index.ts';
import { CliError } from '../errors.ts';
import { decodeText, inputName, parseJson, readBytes } from '../terminal/input.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { quoted } from '../terminal/text.ts';
import { type Entry, type Line, parseRecord, type Rejected, recordOf } from './records.ts';

/** Records to send. `type` is the type of those that have none. */
export type BulkInput = {
  entries: AsyncIterable<Entry | Rejected>;
  totalBytes?: number | undefined;
  type?: RecordType | undefined;
  /** Lines printed after the summary. */
  remarks?: () => string[];
};

/**
 * Opens a file, or stdin for `-`: JSON Lines, or other JSON, which may span several lines: an array
 * of records, or the only record. `json` is set in the second case.
 */
export async function openRecords(
  term: Terminal,
  path: string,
  type?: RecordType | undefined,
): Promise<BulkInput & { json?: unknown }> {
  const rest = readLines(readBytes(term, path));
  // The first two lines tell JSON Lines from other JSON.
  const [{ value: first }, { value: second }] = [await rest.next(), await rest.next()];
  if (first === undefined) return { ...itemsOf([], type), totalBytes: 0, json: [] };
  async function* lines(): AsyncGenerator<Line> {
    yield* [first, second].filter((line) => line !== undefined);
    yield* rest;
  }
  const [begin, next] = [beginOf(first), second && beginOf(second)];
  const isOther = begin !== '{' && begin !== '[' && next !== '{';
  if (isOther && !first.tooLong) throw notJson(path, first.bytes);
  const isNamed = /\.(jsonl|ndjson)$/i.test(path);
  const isLines = isNamed || next === '{' || (second !== undefined && isWhole(first));
  if (begin !== '[' && isLines) {
    const totalBytes = path === '-' ? undefined : Bun.file(path).size;
    return { entries: parsed(lines(), type), totalBytes, type };
  }
  const json = await parseJson(rejoined(lines(), path), path);
  return { ...itemsOf([json].flat(), type), json };
}

function notJson(path: string, bytes: Uint8Array): CliError {
  // Throws if the bytes are not text.
  decodeText(bytes, path);
  const hint = `To ingest it as one document: memory ingest document ${quoted(path)} --user <id>`;
  return new CliError('not_json', `${inputName(path)} is not JSON.`, hint);
}

/** Returns the first character of a line, without white space or a byte order mark. */
function beginOf({ bytes }: Line): string | undefined {
  return new TextDecoder().decode(bytes.subarray(0, 1_000)).trim()[0];
}

function isWhole({ bytes }: Line): boolean {
  try {
    return typeof JSON.parse(new TextDecoder().decode(bytes)) === 'object';
  } catch {
    return false;
  }
}

/** Restores the blank lines, so that errors report the line in the file. */
async function* rejoined(lines: AsyncIterable<Line>, path: string): AsyncGenerator<Uint8Array> {
  let last = 1;
  for await (const { where, bytes, tooLong } of lines) {
    const { line = last } = where;
    if (tooLong) {
      const message = `${inputName(path)} has a line longer than 32 MiB (line ${line}).`;
      const hint = 'Convert it to JSON Lines, with one record on each line.';
      throw new CliError('payload_too_large', message, hint);
    }
    yield Buffer.alloc(line - last, newline);
    yield bytes;
    last = line;
  }
}

/** Returns the values as numbered records, except undefined ones. */
export function itemsOf(values: unknown[], type?: RecordType | undefined): BulkInput {
  async function* entries(): AsyncGenerator<Entry> {
    for (const [index, value] of values.entries()) {
      if (value === undefined) continue;
      const item = recordOf(value, type);
      yield { where: { item: index + 1 }, text: JSON.stringify(value), item };
    }
  }
  return { entries: entries(), type };
}

async function* parsed(lines: AsyncIterable<Line>, type: RecordType | undefined) {
  for await (const line of lines) yield parseRecord(line, type);
}

/** Above the default body limit of the service. Longer lines are never held in memory. */
const maxLineBytes = 32 * 1024 * 1024;
const newline = 10;

/**
 * Splits bytes into lines, one at a time, so memory use does not depend on the file size. Skips
 * blank lines.
 */
export async function* readLines(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<Line, undefined> {
  let [line, size] = [1, 0];
  let pieces: Uint8Array[] = [];
  function hold(piece: Uint8Array): void {
    size += piece.length;
    if (size <= maxLineBytes) pieces.push(piece);
    else pieces = [];
  }
  function endLine(): Line[] {
    const ended = { where: { line }, bytes: Buffer.concat(pieces), tooLong: size > maxLineBytes };
    [line, size, pieces] = [line + 1, 0, []];
    const isBlank = ended.bytes.every((byte) => byte === 32 || byte === 9 || byte === 13);
    return ended.tooLong || !isBlank ? [ended] : [];
  }
  for await (const chunk of source) {
    let start = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, start)) {
      hold(chunk.subarray(start, at));
      start = at + 1;
      yield* endLine();
    }
    hold(chunk.subarray(start));
  }
  yield* endLine();
}
