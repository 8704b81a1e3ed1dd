import { join } from 'node:path';
import { expectDrained } from './api.ts';
import { compareMemories, compareReport } from './bulk/compare.ts';
import { writeBulkFile } from './bulk/file.ts';
import { importUnderKills } from './bulk/kills.ts';
import { createOwed } from './bulk/owed.ts';
import { comparePeaks } from './bulk/peaks.ts';
import type { Figures, Harness, Run } from './harness.ts';
import { createTarget } from './target.ts';

const sizes = { quick: { lines: 20_000, bad: 80 }, full: { lines: 100_000, bad: 500 } };
const kills = { quick: 1, full: 3 };
/** The service's default rate limit. */
const env = { MEMORY_RATE_LIMIT: '6000/60' };
const drainWithinMs = 120_000;

export const bulk: Harness = {
  id: 'P20',
  promise:
    'Repeating an interrupted "memory ingest batch" stores each valid line of the file exactly ' +
    'once',
  proof:
    'the command ingests 100,000 lines of all types, including duplicates and 500 invalid lines; ' +
    'it is killed and run again three times, then the server is killed during a run; the stored ' +
    'memories are compared with the file; peak memory is compared across larger files',
  control: {
    without: 'idempotency keys derived from content and position',
    variants: ['keys-at-random'],
  },
  run,
};

async function run({ tier, variants, random, violations, folder }: Run): Promise<Figures> {
  await using target = createTarget({ env, samePort: true });
  const owed = createOwed();
  const path = join(folder, 'records.jsonl');
  const file = await writeBulkFile(path, sizes[tier], random, owed.add);
  await target.start();
  const order = { target, folder, path, errorsOut: join(folder, 'bad.jsonl'), variants };
  const last = await importUnderKills(order, target, file, kills[tier], random, violations);
  const counts = compareReport(last, order.errorsOut, file, violations);
  await expectDrained(target, drainWithinMs, violations);
  const found = await compareMemories(target, owed, violations);
  await target.stop();
  const { lines, bad: invalidLines } = sizes[tier];
  const figures = { lines, invalidLines, kills: kills[tier], ...counts, ...found };
  if (tier === 'quick') return figures;
  return { ...figures, ...(await comparePeaks(folder, random, violations)) };
}
