import type { UserRecord } from '../../../sdk/contract/ingest.ts';
import type { Memory } from '../../../sdk/index.ts';
import { renderRecord } from '../../../server/memory/render.ts';
import type { Random } from '../../support/random.ts';

/** An input file and the report that the command must produce for it. */
export type BulkFile = {
  bytes: number;
  /** The number of valid records. */
  good: number;
  /** The expected error of each bad line, by line number. */
  bad: Map<number, string>;
};

const users = 40;
/** Some external ids repeat, and their records replace earlier ones. */
const externalIds = 2_000;
const keyedShare = 0.05;
const equalShare = 0.05;
const blankShare = 0.002;
/** A run of identical lines, long enough to fill whole requests. */
const equalRun = { from: 0.3, to: 0.31, least: 1_600 };
const equalRecord: UserRecord = {
  type: 'event',
  userId: 'customer-0',
  data: { name: 'signed in' },
};

const makers: ((text: string) => object)[] = [
  (page) => ({ type: 'event', data: { name: 'page viewed', page } }),
  (summary) => ({ type: 'profile', data: { summary, plan: 'pro' } }),
  (content) => ({
    type: 'ticket',
    data: { subject: 'x', comments: [{ author: 'user', content }] },
  }),
  (text) => ({ type: 'document', metadata: { a: 1 }, data: { text: `${text}\n\n`.repeat(8) } }),
  (content) => ({ type: 'conversation', data: { messages: [{ role: 'user', content }] } }),
];

const badLines: [text: string, error: string][] = [
  ['{"type":"event","userId":"customer-1","data":{"name":"page vie', 'invalid_json'],
  ['{"type":"event","data":{"name":"page viewed"}}', 'invalid_request'],
  ['null', 'invalid_request'],
];

/** Writes a file with `lines` non-blank lines and calls `onRecord` for each valid record. */
export async function writeBulkFile(
  path: string,
  { lines, bad: badCount }: { lines: number; bad: number },
  random: Random,
  onRecord: (record: UserRecord) => void = () => {},
): Promise<BulkFile> {
  const writer = Bun.file(path).writer();
  const bad = new Map<number, string>();
  const badEvery = Math.floor(lines / badCount);
  const runBegins = Math.floor(lines * equalRun.from);
  const runEnds = Math.max(runBegins + equalRun.least, lines * equalRun.to);
  let number = 0;
  const write = (text: string) => {
    number += 1;
    writer.write(`${text}\n`);
  };
  let record = recordAt(0, random);
  for (let index = 0; index < lines; index += 1) {
    const isRun = index > runBegins && index < runEnds;
    if (random.chance(blankShare)) write(random.pick(['', '  ', '\r']));
    if (!isRun && index % badEvery === badEvery - 1) {
      const [text, error] = random.pick(badLines);
      write(text);
      bad.set(number, error);
      continue;
    }
    if (isRun) record = equalRecord;
    else if (!random.chance(equalShare)) record = recordAt(index, random);
    write(JSON.stringify(record));
    onRecord(record);
    // The writer buffers in memory until it is flushed.
    if (index % 1_000 === 0) await writer.flush();
  }
  await writer.end();
  return { bytes: Bun.file(path).size, good: lines - bad.size, bad };
}

function recordAt(index: number, random: Random): UserRecord {
  const text = `Größe falsch, order ${index}: 返品について 🙂.`;
  const externalId = String(random.between(0, externalIds));
  return {
    userId: `customer-${random.between(0, users)}`,
    ...random.pick(makers)(text),
    ...(random.chance(keyedShare) && { source: 'helpdesk', externalId }),
  } as UserRecord;
}

/** The expected number of memories for each combination of visible fields. */
export type Owed = { counts: Map<string, number>; add(record: UserRecord): void };

/** Computes the memories that must exist after the records have been ingested in order. */
export function createOwed(): Owed {
  const counts = new Map<string, number>();
  const shownByKey = new Map<string, string>();
  const change = (shown: string, by: 1 | -1) => counts.set(shown, (counts.get(shown) ?? 0) + by);
  return {
    counts,
    add(record) {
      const shown = showOf(renderRecord(record, ''));
      change(shown, 1);
      if (record.externalId === undefined) return;
      // A later record with the same user, source and external id replaces the earlier one.
      const key = JSON.stringify([record.userId, record.externalId]);
      const before = shownByKey.get(key);
      if (before !== undefined) change(before, -1);
      shownByKey.set(key, shown);
    },
  };
}

type Shown = Pick<Memory, 'userId' | 'type' | 'content' | 'source' | 'externalId'>;

/** Returns a key that is the same for a record and for the memory created from it. */
export function showOf({ userId, type, content, source, externalId }: Shown): string {
  return JSON.stringify([userId, type, content, source, externalId]);
}
