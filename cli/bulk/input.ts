import { CliError } from '../client/errors.ts';
import { inputName, readUtf8 } from '../terminal/input.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { quoted } from '../terminal/text.ts';
import { chain, type Line, readLines } from './lines.ts';
import { isBad, parseRecord, type Unit } from './records.ts';

export type BatchInput = { lines: AsyncIterable<Line>; totalBytes?: number; unit: Unit };

/** What the lines are to hold: what is to be ingested, or what export printed. */
export type Held = 'records' | 'memories';

/** The lines of a file, or of stdin for `-`. An export may be empty. */
export async function openInput(term: Terminal, path: string, held: Held): Promise<BatchInput> {
  const lines = readLines(readUtf8(term, path));
  const first = await lines.next();
  if (first.done && held === 'memories') return { lines, unit: 'line' };
  if (first.done) throw new CliError({ code: 'empty', message: `${inputName(path)} is empty.` });
  if (textOf(first.value).startsWith('[')) {
    throw new CliError({
      code: 'not_jsonl',
      message: `${inputName(path)} holds a JSON array, not one record on each line.`,
      hint: 'Turn it into lines: jq -c ".[]" array.json > lines.jsonl',
    });
  }
  const second = await lines.next();
  const head = second.done ? [first.value] : [first.value, second.value];
  if (isSpread(head)) throw spreadOut(path, held);
  if (isHeldBy(first.value, held === 'records' ? 'memories' : 'records')) throw other(path, held);
  const size = path === '-' ? {} : { totalBytes: Bun.file(path).size };
  return { lines: chain(head, lines), unit: 'line', ...size };
}

/** One object over several lines begins with its brace alone, then its first name. */
function isSpread([first, second]: Line[]): boolean {
  return first !== undefined && textOf(first) === '{' && textOf(second).startsWith('"');
}

/** How a line begins, without spaces and the mark that some programs put before a text. */
function textOf(line: Line | undefined): string {
  return new TextDecoder().decode(line?.bytes.subarray(0, 1_000)).trim();
}

/** Records have data, memories have an id and content; the first line decides. */
function isHeldBy(line: Line, held: Held): boolean {
  const parsed = parseRecord(line, undefined);
  if (isBad(parsed) || typeof parsed.item !== 'object' || parsed.item === null) return false;
  const isMemory = 'id' in parsed.item && 'content' in parsed.item;
  return held === 'memories' ? isMemory : !isMemory && 'data' in parsed.item;
}

function other(path: string, held: Held): CliError {
  const file = path === '-' ? '-' : quoted(path);
  return new CliError({
    code: 'not_these_lines',
    ...(held === 'records'
      ? {
          message: `${inputName(path)} holds memories, as export prints them, not records.`,
          hint: `To import them: memory import ${file}`,
        }
      : {
          message: `${inputName(path)} holds records to ingest, not memories as export prints them.`,
          hint: `To ingest them: memory ingest batch ${file}`,
        }),
  });
}

function spreadOut(path: string, held: Held): CliError {
  const file = path === '-' ? 'file.json' : quoted(path);
  const lines = `Put each on a line: jq -c . ${file} > lines.jsonl`;
  const one = `If it is the only one: memory ingest record ${path === '-' ? path : file}`;
  return new CliError({
    code: 'not_jsonl',
    message: `${inputName(path)} holds one record over several lines, not one on each line.`,
    hint: held === 'records' ? `${one}\n${lines}` : lines,
  });
}
