import type { UserRecord } from '../../../sdk/contract/ingest.ts';
import type { Random } from '../../support/random.ts';
import { badTextAt, equalRecord, recordAt } from './records.ts';

/** An input file and the report that the command must produce for it. */
export type BulkFile = {
  path: string;
  bytes: number;
  /** The number of valid records, excluding bad and blank lines. */
  good: number;
  /** The expected error of each bad line, by line number. */
  bad: Map<number, string>;
};

export type BulkSize = { lines: number; bad: number };

/** A run of identical lines, long enough to fill whole requests. */
const equalRun = { from: 0.3, to: 0.31, least: 1_600 };
const equalShare = 0.05;
const blankShare = 0.002;

/** Writes a file with `lines` non-blank lines and calls `onRecord` for each valid record. */
export async function writeBulkFile(
  path: string,
  { lines, bad: badLines }: BulkSize,
  random: Random,
  onRecord: (record: UserRecord) => void = () => {},
): Promise<BulkFile> {
  const writer = Bun.file(path).writer();
  const badAt = randomLines(badLines, lines, random);
  const bad = new Map<number, string>();
  let number = 0;
  const write = (text: string | Uint8Array) => {
    number += 1;
    writer.write(text);
    writer.write('\n');
  };
  let record = recordAt(0, random);
  for (let index = 0; index < lines; index += 1) {
    if (random.chance(blankShare)) write(random.pick(['', '  ', '\r']));
    if (badAt.has(index)) {
      const { bytes: text, error } = badTextAt(bad.size);
      write(text);
      bad.set(number, error);
      continue;
    }
    if (isEqualRun(index, lines)) record = equalRecord;
    else if (!random.chance(equalShare)) record = recordAt(index, random);
    write(JSON.stringify(record));
    onRecord(record);
    // The writer buffers in memory until it is flushed.
    if (index % 1_000 === 0) await writer.flush();
  }
  await writer.end();
  return { path, bytes: Bun.file(path).size, good: lines - bad.size, bad };
}

/**
 * Picks lines outside the run of identical lines. Never picks the first line, because the command
 * detects the file's format from that line.
 */
function randomLines(count: number, lines: number, random: Random): Set<number> {
  const picked = new Set<number>();
  while (picked.size < count) {
    const line = random.between(1, lines);
    if (!isEqualRun(line, lines)) picked.add(line);
  }
  return picked;
}

function isEqualRun(index: number, lines: number): boolean {
  const begin = Math.floor(lines * equalRun.from);
  const length = Math.max(equalRun.least, lines * (equalRun.to - equalRun.from));
  return index > begin && index < begin + length;
}
