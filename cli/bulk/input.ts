import { CliError } from '../errors.ts';
import { decodeText, inputName, parseJson, readUtf8 } from '../terminal/input.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { quoted } from '../terminal/text.ts';
import { type Line, readLines } from './lines.ts';
import { isBad, parseRecord, type Unit } from './records.ts';

export type BatchInput = { lines: AsyncIterable<Line>; totalBytes?: number; unit: Unit };

/** What the lines are to hold: what is to be ingested, or what export printed. */
type Held = 'records' | 'memories';

type Head = { head: Line[]; lines: AsyncIterable<Line> };

/** The lines of a file, or of stdin for `-`. An export may be empty. */
export async function openInput(term: Terminal, path: string, held: Held): Promise<BatchInput> {
  const { head, lines } = await openLines(term, path);
  const [first, second] = head;
  if (first === undefined && held === 'memories') return { lines, unit: 'line' };
  if (first === undefined) throw empty(path);
  const begin = beginOf(first);
  if (begin.startsWith('[')) {
    const message = `${inputName(path)} holds a JSON array, not one record on each line.`;
    throw notJsonLines(message, 'Turn it into lines: jq -c ".[]" array.json > lines.jsonl');
  }
  if (held === 'records' && !head.some((line) => beginOf(line).startsWith('{'))) throw aText(path);
  // One object over several lines begins with its brace alone, then its first name.
  if (begin === '{' && beginOf(second).startsWith('"')) throw spreadOut(path, held);
  if (isHeldBy(first, held === 'records' ? 'memories' : 'records')) throw otherLines(path, held);
  const size = path === '-' ? {} : { totalBytes: Bun.file(path).size };
  return { lines, unit: 'line', ...size };
}

/** One record as JSON, or many: one on each line, or a JSON array. */
export async function openRecords(
  term: Terminal,
  path: string,
): Promise<BatchInput | { record: unknown }> {
  const { head, lines } = await openLines(term, path);
  const [first, second] = head;
  if (first === undefined) throw empty(path);
  // If the first line is a whole JSON value and a second line follows, the file is JSON lines.
  const manyLines = second !== undefined && isWhole(first);
  if (/\.(jsonl|ndjson)$/i.test(path) || manyLines) return { lines, unit: 'line' };
  const pieces: Uint8Array[] = [];
  for await (const { bytes } of lines) pieces.push(bytes, newline);
  const record = parseJson(decodeText(Buffer.concat(pieces), path), path);
  return Array.isArray(record) ? { lines: linesOf(record), unit: 'item' } : { record };
}

const newline = new Uint8Array([10]);

/** The first two lines show what the file is; they are among `lines` all the same. */
async function openLines(term: Terminal, path: string): Promise<Head> {
  const rest = readLines(readUtf8(term, path));
  const head: Line[] = [];
  while (head.length < 2) {
    const next = await rest.next();
    if (next.done) break;
    head.push(next.value);
  }
  async function* lines(): AsyncGenerator<Line> {
    yield* head;
    yield* rest;
  }
  return { head, lines: lines() };
}

async function* linesOf(records: unknown[]): AsyncGenerator<Line> {
  for (const [index, record] of records.entries()) {
    const bytes = Buffer.from(JSON.stringify(record));
    yield { number: index + 1, end: 0, bytes, tooLong: false };
  }
}

function isWhole({ bytes }: Line): boolean {
  try {
    return typeof JSON.parse(new TextDecoder().decode(bytes)) === 'object';
  } catch {
    return false;
  }
}

/** How a line begins, without spaces and the mark that some programs put before a text. */
function beginOf(line: Line | undefined): string {
  return new TextDecoder().decode(line?.bytes.subarray(0, 1_000)).trim();
}

/** Records have data, memories have an id and content. */
function isHeldBy(line: Line, held: Held): boolean {
  const parsed = parseRecord(line, undefined);
  if (isBad(parsed) || typeof parsed.item !== 'object' || parsed.item === null) return false;
  const isMemory = 'id' in parsed.item && 'content' in parsed.item;
  return held === 'memories' ? isMemory : !isMemory && 'data' in parsed.item;
}

function empty(path: string): CliError {
  return new CliError({ code: 'empty', message: `${inputName(path)} is empty.` });
}

function otherLines(path: string, held: Held): CliError {
  const file = path === '-' ? '-' : quoted(path);
  const [message, hint] =
    held === 'records'
      ? ['holds memories, as export prints them, not records.', 'import them: memory import']
      : [
          'holds records to ingest, not memories as export prints them.',
          'ingest them: memory ingest batch',
        ];
  const code = 'not_these_lines';
  return new CliError({
    code,
    message: `${inputName(path)} ${message}`,
    hint: `To ${hint} ${file}`,
  });
}

function aText(path: string): CliError {
  const file = path === '-' ? '-' : quoted(path);
  const message = `${inputName(path)} holds no JSON, not one record on each line.`;
  return notJsonLines(message, `As one document: memory ingest document ${file} --user <id>`);
}

function spreadOut(path: string, held: Held): CliError {
  const file = path === '-' ? 'file.json' : quoted(path);
  const lines = `Put each on a line: jq -c . ${file} > lines.jsonl`;
  const one = `If it is the only one: memory ingest record ${path === '-' ? path : file}`;
  const message = `${inputName(path)} holds one record over several lines, not one on each line.`;
  return notJsonLines(message, held === 'records' ? `${one}\n${lines}` : lines);
}

function notJsonLines(message: string, hint: string): CliError {
  return new CliError({ code: 'not_jsonl', message, hint });
}
