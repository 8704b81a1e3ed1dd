import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryClient } from '../../sdk/index.ts';
import type { Random } from '../support/random.ts';
import { until } from '../support/until.ts';
import { expectDrained } from './api.ts';
import { type Import, startImport } from './bulk/command.ts';
import { type BulkFile, createOwed, type Owed, showOf, writeBulkFile } from './bulk/file.ts';
import type { Figures, Harness, Run, Violations } from './harness.ts';
import { createTarget, restart, type Target } from './target.ts';

const sizes = { quick: { lines: 20_000, bad: 80 }, full: { lines: 100_000, bad: 500 } };
const kills = { quick: 1, full: 3 };
const killWithinMs = 30;
/** The exit code of the command if the server is unavailable for too long. */
const unreachable = 5;
/** The service's default rate limit. */
const env = { MEMORY_RATE_LIMIT: '6000/60' };
const drainWithinMs = 120_000;
/**
 * The numbers of lines. Only the last two sizes are compared. Runs of up to 100,000 lines end
 * before garbage collection reaches a steady state, and their peaks vary by 15 %.
 */
const peakLines = [10_000, 300_000, 3_000_000];
/** The permitted growth of the peak when the number of lines grows tenfold. */
const maxGrowth = 1.25;

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
  const begin = () => startImport(target, path, variants);
  const last = await importUnderKills(begin, target, file, kills[tier], random, violations);
  const counts = await compareReport(last, file, violations);
  await expectDrained(target, drainWithinMs, violations);
  const found = await compareMemories(target, owed, violations);
  await target.stop();
  const { lines } = sizes[tier];
  const figures = { lines, invalidLines: file.bad.size, kills: kills[tier], ...counts, ...found };
  if (tier === 'quick') return figures;
  return { ...figures, ...(await comparePeaks(folder, random, violations)) };
}

/**
 * Starts the command, then kills and restarts it at random moments, and finally restarts the server
 * while the command runs. Returns the run that reached the end of the file.
 */
async function importUnderKills(
  begin: () => Import,
  target: Target,
  { bad }: BulkFile,
  times: number,
  random: Random,
  violations: Violations,
): Promise<Import> {
  // Bad lines are spread over the file, so the number reported so far measures the progress.
  const moments = Array.from({ length: times + 1 }, () => random.between(1, bad.size * 0.7));
  moments.sort((a, b) => a - b);
  let running = begin();
  for (const [index, reports] of moments.entries()) {
    const { child, reported } = running;
    await until(() => !child.running() || reported().length >= reports, { timeoutMs: 600_000 });
    await Bun.sleep(random.between(0, killWithinMs));
    if (index === times) break;
    if (!child.running()) violations.add('the command exited before it could be killed');
    await child.end('SIGKILL');
    running = begin();
  }
  await restart(target);
  if ((await running.ended).code !== unreachable) return running;
  const log = running.child.log();
  if (!log.includes('Run the same command again')) violations.add(log);
  running = begin();
  await running.ended;
  return running;
}

/** Checks the counts and the bad lines that the last run reported. */
async function compareReport(
  { child, reported, ended }: Import,
  { good, bad }: BulkFile,
  violations: Violations,
) {
  const { code } = await ended;
  const found = child.log().matchAll(/(\d+) (accepted|unchanged|replayed|failed)\b/g);
  const counts = Object.fromEntries([...found].map(([, count, name]) => [name, Number(count)]));
  const { accepted: added = 0, unchanged = 0, replayed = 0, failed = 0 } = counts;
  const accepted = added + unchanged;
  if (code !== 1) violations.add(`the command exited with code ${code}: ${child.log()}`);
  if (accepted + replayed !== good)
    violations.add(`${accepted} accepted and ${replayed} replayed records, expected ${good}`);
  const lines = new Map(reported().map(({ line, error }) => [line, error]));
  const isEqual = [...bad].every(([line, error]) => lines.get(line) === error);
  if (!isEqual || reported().length !== bad.size || failed !== bad.size)
    violations.add(`${failed} lines failed and ${lines.size} were reported, expected ${bad.size}`);
  return { accepted, replayed, failed };
}

async function compareMemories({ url, key }: Target, owed: Owed, violations: Violations) {
  const left = new Map(owed.counts);
  const found = { stored: 0, lost: 0, unexpected: 0, incomplete: 0 };
  for await (const memory of new MemoryClient({ baseUrl: url, apiKey: key }).export()) {
    found.stored += 1;
    if (memory.status !== 'complete') found.incomplete += 1;
    const shown = showOf(memory);
    left.set(shown, (left.get(shown) ?? 0) - 1);
  }
  for (const count of left.values()) {
    if (count > 0) found.lost += count;
    else found.unexpected -= count;
  }
  for (const what of ['lost', 'unexpected', 'incomplete'] as const)
    if (found[what] > 0) violations.add(`${found[what]} memories are ${what}`);
  return found;
}

/** Checks that the command's peak memory does not grow with the file. */
async function comparePeaks(folder: string, random: Random, violations: Violations) {
  const figures: Record<string, string> = {};
  const peaks: number[] = [];
  for (const lines of peakLines) {
    await using target = createTarget({ env });
    const path = join(folder, `${lines}.jsonl`);
    await target.start();
    const file = await writeBulkFile(path, { lines, bad: lines / 200 }, random);
    const running = startImport(target, path);
    const { peakBytes } = await running.ended;
    await compareReport(running, file, violations);
    rmSync(path);
    peaks.push(peakBytes);
    const megabytes = (size: number) => `${Math.round(size / 1e6)} MB`;
    figures[`peak memory for ${lines} lines`] =
      `${megabytes(peakBytes)} (file ${megabytes(file.bytes)})`;
  }
  const [, many = 0, most = 0] = peaks;
  if (most > many * maxGrowth)
    violations.add(`peak memory grows with the file: ${peaks.join(', ')} bytes`);
  return figures;
}
