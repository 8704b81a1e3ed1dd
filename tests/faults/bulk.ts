import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryClient } from '../../sdk/index.ts';
import { type Child, memoryBytes, startChild } from '../support/process.ts';
import { until } from '../support/until.ts';
import { expectDrained } from './api.ts';
import type { Figures, Harness, Run, Violations } from './harness.ts';
import { createTarget, restart, type Target } from './target.ts';

const lines = { quick: 20_000, full: 100_000 };
const kills = { quick: 1, full: 3 };
const killWithinMs = 30;
/** Every so many lines equal each other. */
const equalEvery = 20;
const userId = 'bulk';
/** The exit code of the command if the server is unavailable for too long. */
const unreachable = 5;
/** The service's default rate limit. */
const env = { MEMORY_RATE_LIMIT: '6000/60' };
const drainWithinMs = 120_000;
/** Runs of fewer lines end before garbage collection reaches a steady state. */
const peakLines = [300_000, 3_000_000];
/** The permitted growth of the peak when the number of lines grows tenfold. */
const maxGrowth = 1.25;
const lookEveryMs = 10;

export const bulk: Harness = {
  id: 'P20',
  promise:
    'Repeating an interrupted "memory ingest batch" stores each line of the file exactly once',
  proof:
    `the command ingests ${lines.full} lines, one in ${equalEvery} of them equal; it is killed and ` +
    `run again ${kills.full} times, then the server is killed during a run; the stored memories ` +
    'are compared with the file; peak memory is compared across larger files',
  control: {
    without: 'idempotency keys derived from content and position',
    variants: ['keys-at-random'],
  },
  run,
};

async function run({ tier, variants, random, violations, folder }: Run): Promise<Figures> {
  await using target = createTarget({ env, samePort: true });
  const count = lines[tier];
  const path = join(folder, 'records.jsonl');
  await writeLines(path, count);
  await target.start();
  const moments = Array.from({ length: kills[tier] + 1 }, () => random.between(1, count * 0.7));
  let running = startIngest(target, path, variants);
  for (const [index, least] of moments.sort((a, b) => a - b).entries()) {
    const isAt = async () => !running.running() || (await storedLines(target)) >= least;
    await until(isAt, { timeoutMs: 600_000, what: 'stored lines' });
    await Bun.sleep(random.between(0, killWithinMs));
    if (!running.running()) violations.add('the command exited before the kill');
    if (index === kills[tier]) break;
    await running.end('SIGKILL');
    running = startIngest(target, path, variants);
  }
  await restart(target);
  if ((await running.exited) === unreachable) running = startIngest(target, path, variants);
  const counts = await expectReport(running, count, violations);
  await expectDrained(target, drainWithinMs, violations);
  const found = await compareMemories(target, count, violations);
  const figures = { lines: count, kills: kills[tier], ...counts, ...found };
  return tier === 'quick' ? figures : { ...figures, ...(await comparePeaks(folder, violations)) };
}

function textAt(index: number): string {
  return `order ${index % equalEvery === 0 ? 'of everybody' : index}: Größe falsch, 返品について 🙂.`;
}

async function writeLines(path: string, count: number): Promise<void> {
  const writer = Bun.file(path).writer();
  for (let index = 0; index < count; index += 1) {
    const record = { type: 'event', userId, data: { name: textAt(index) } };
    writer.write(`${JSON.stringify(record)}\n`);
    // The writer buffers in memory until it is flushed.
    if (index % 1_000 === 0) await writer.flush();
  }
  await writer.end();
}

/** Starts `memory ingest batch` with the variants applied. */
function startIngest({ url, key }: Target, path: string, variants: string[] = []): Child {
  const main = join(import.meta.dir, '../../cli/main.ts');
  const patched = join(import.meta.dir, 'variants/preload.ts');
  const preload = variants.length === 0 ? [] : ['--preload', patched];
  return startChild([process.execPath, ...preload, main, 'ingest', 'batch', path], {
    HOME: `${path}.home`,
    XDG_CONFIG_HOME: `${path}.home`,
    MEMORY_BASE_URL: url,
    MEMORY_API_KEY: key,
    FAULT_VARIANTS: variants.join(),
  });
}

const clientOf = ({ url, key }: Target) => new MemoryClient({ baseUrl: url, apiKey: key });

async function storedLines(target: Target): Promise<number> {
  const { items } = await clientOf(target).users();
  return items[0]?.memories ?? 0;
}

/** Checks that the command succeeded, and the counts that it reported. */
async function expectReport(child: Child, count: number, violations: Violations) {
  const code = await child.exited;
  const found = child.log().matchAll(/(\d+) (accepted|unchanged|replayed|failed)\b/g);
  const counts = Object.fromEntries([...found].map(([, number, name]) => [name, Number(number)]));
  const { accepted = 0, replayed = 0 } = counts;
  if (code !== 0 || accepted + replayed !== count)
    violations.add(`the command exited with code ${code}: ${child.log()}`);
  return { accepted, replayed };
}

async function compareMemories(target: Target, count: number, violations: Violations) {
  const left = new Map<string, number>();
  const add = (text: string, by: number) => left.set(text, (left.get(text) ?? 0) + by);
  for (let index = 0; index < count; index += 1) add(textAt(index), 1);
  const found = { stored: 0, lost: 0, unexpected: 0, incomplete: 0 };
  for await (const { content, status } of clientOf(target).export()) {
    found.stored += 1;
    if (status !== 'complete') found.incomplete += 1;
    add(content, -1);
  }
  for (const number of left.values()) {
    found.lost += Math.max(0, number);
    found.unexpected += Math.max(0, -number);
  }
  for (const what of ['lost', 'unexpected', 'incomplete'] as const)
    if (found[what] > 0) violations.add(`${found[what]} memories are ${what}`);
  return found;
}

/** Checks that the command's peak memory does not grow with the file. */
async function comparePeaks(folder: string, violations: Violations) {
  const figures: Record<string, string> = {};
  const peaks: number[] = [];
  for (const count of peakLines) {
    await using target = createTarget({ env });
    const path = join(folder, `${count}.jsonl`);
    await target.start();
    await writeLines(path, count);
    const child = startIngest(target, path);
    let peakBytes = 0;
    // The kernel records the peak, so only growth after the last poll can be missed.
    const watch = setInterval(() => {
      peakBytes = Math.max(peakBytes, memoryBytes(child.pid, 'VmHWM') || 0);
    }, lookEveryMs);
    await expectReport(child, count, violations);
    clearInterval(watch);
    rmSync(path);
    peaks.push(peakBytes);
    figures[`peak memory for ${count} lines`] = `${Math.round(peakBytes / 1e6)} MB`;
  }
  const [many = 0, most = 0] = peaks;
  if (most > many * maxGrowth)
    violations.add(`peak memory grows with the file: ${peaks.join(', ')} bytes`);
  return figures;
}
