import { CliError } from '../failure.ts';
import { inputName, readBytes } from '../input.ts';
import type { Io } from '../io.ts';
import { quoted } from '../text.ts';
import { chain, type Line, readLines } from './lines.ts';
import type { Unit } from './report.ts';

export type BatchInput = { lines: AsyncIterable<Line>; totalBytes?: number; unit: Unit };

/** The lines of a file, or of stdin for `-`; an empty one is refused unless it may be. */
export async function openInput(
  io: Io,
  path: string,
  { mayBeEmpty = false } = {},
): Promise<BatchInput> {
  const lines = readLines(readBytes(io, path));
  const first = await lines.next();
  if (first.done && mayBeEmpty) return { lines, unit: 'line' };
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
  if (isSpread(head)) throw spreadOut(path);
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

function spreadOut(path: string): CliError {
  const file = path === '-' ? 'file.json' : quoted(path);
  return new CliError({
    code: 'not_jsonl',
    message: `${inputName(path)} holds one record over several lines, not one on each line.`,
    hint: `Put each on a line: jq -c . ${file} > lines.jsonl`,
  });
}
