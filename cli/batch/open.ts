import { CliError } from '../failure.ts';
import { inputName, readBytes } from '../input.ts';
import type { Io } from '../io.ts';
import { type Line, readLines } from './lines.ts';
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
  if (first.value.bytes[0] === '['.charCodeAt(0)) {
    throw new CliError({
      code: 'not_jsonl',
      message: `${inputName(path)} holds a JSON array, not one record on each line.`,
      hint: 'Turn it into lines: jq -c ".[]" array.json > lines.jsonl',
    });
  }
  const size = path === '-' ? {} : { totalBytes: Bun.file(path).size };
  return { lines: chain(first.value, lines), unit: 'line', ...size };
}

async function* chain(first: Line, rest: AsyncIterable<Line>): AsyncGenerator<Line> {
  yield first;
  yield* rest;
}
