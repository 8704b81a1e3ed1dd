import { join } from 'node:path';
import { type IngestRecord, MemoryClient } from '../../../sdk/index.ts';
import { median, ratioOf, short, showRatio } from '../../bench/kit/numbers.ts';
import { inTurn, timed } from '../../bench/kit/rounds.ts';
import type { Random } from '../../support/random.ts';
import { createTarget, type Target } from '../target.ts';
import { sendAll } from './by-hand.ts';
import { startImport } from './command.ts';
import { writeBulkFile } from './file.ts';

const lines = 50_000;
const rounds = 5;
/** The command's default batch size and concurrency. */
const size = 500;
const atOnce = 4;
const byHand = join(import.meta.dir, 'by-hand.ts');

/**
 * Compares the command with two uses of the SDK's `memory.ingest.batch`: a program that reads the
 * same file, and calls from this process with the records in memory. The command, the program and
 * the calls take turns, and each run has a new database.
 */
export async function compareRates(folder: string, random: Random) {
  const path = join(folder, 'rates.jsonl');
  const records: IngestRecord[] = [];
  await writeBulkFile(path, { lines, bad: 0 }, random, (record) => records.push(record));
  const inMemory = (size: number, atOnce: number) => () =>
    onFreshTarget(({ url, key }) =>
      sendAll(new MemoryClient({ baseUrl: url, apiKey: key }), records, size, atOnce),
    );
  const times = await inTurn(rounds, {
    command: () =>
      onFreshTarget(async (target) => {
        const order = { target, folder, path, errorsOut: join(folder, 'none'), variants: [] };
        const { code, stderr } = await startImport(order).ended;
        if (code !== 0) throw new Error(stderr);
      }),
    program: () => onFreshTarget((target) => runByHand(target, path)),
    oneByOne: inMemory(size, 1),
    parallel: inMemory(size, atOnce),
    thousands: inMemory(1_000, 1),
  });
  // Rates are inversely proportional to times, so the command's time is the denominator.
  const rateOf = (others: number[]) => showRatio(ratioOf(others, times.command));
  return {
    linesPerSecond: short((lines / median(times.command)) * 1_000),
    'rate relative to a program with the SDK': rateOf(times.program),
    'to sequential SDK calls': rateOf(times.oneByOne),
    'to four concurrent SDK calls': rateOf(times.parallel),
    'to sequential SDK calls with 1,000 records': rateOf(times.thousands),
  };
}

async function runByHand({ url, key }: Target, path: string): Promise<void> {
  const child = Bun.spawn([process.execPath, byHand, path, String(size), String(atOnce)], {
    env: { PATH: process.env.PATH, MEMORY_BASE_URL: url, MEMORY_API_KEY: key },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if ((await child.exited) !== 0) throw new Error('the SDK program failed');
}

async function onFreshTarget(work: (target: Target) => Promise<void>): Promise<number> {
  const target = createTarget({ env: { MEMORY_RATE_LIMIT: '6000/60' } });
  try {
    await target.start();
    return await timed(() => work(target));
  } finally {
    await target.remove();
  }
}
