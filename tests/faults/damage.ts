import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRandom, type Random } from '../support/random.ts';
import { listAll, send } from './api.ts';
import { createViolations, type Finding, type Harness, type RunOptions } from './harness.ts';
import { createTarget, type Target } from './target.ts';

const trials = { quick: 24, full: 240 };
const memories = 400;
const pageBytes = 4_096;
const userId = 'damaged';

export const damage: Harness = {
  id: 'P18',
  promise:
    'The server does not serve a structurally damaged database file (SQLite database files have ' +
    'no checksums, so changed text inside a row cannot be detected)',
  proof:
    `parts of the header, pages or the WAL of a database with ${memories} memories are ` +
    'overwritten, pages are swapped, or the file is truncated; the server must then fail to ' +
    'start or return every memory unchanged; writes after a damaged WAL frame may be missing',
  control: { without: 'the structure check at startup', variants: ['no-structure-check'] },
  run,
};

type Kind = 'header' | 'page' | 'cut' | 'swap' | 'log';
const kinds: Kind[] = ['page', 'header', 'page', 'cut', 'swap', 'log'];

async function run({ seed, tier, variants }: RunOptions): Promise<Finding> {
  const random = createRandom(seed);
  const violations = createViolations();
  const folder = mkdtempSync(join(tmpdir(), 'memory-damage-'));
  const figures = {
    trials: 0,
    didNotStart: 0,
    servedIntact: 0,
    logTruncated: 0,
    servedDamaged: 0,
    slowestStartMs: 0,
  };
  try {
    const sound = await makeDatabases(folder);
    for (let trial = 0; trial < trials[tier]; trial += 1) {
      const kind = kinds[trial % kinds.length] ?? 'page';
      const trialFolder = join(folder, `trial-${trial}`);
      mkdirSync(trialFolder);
      const about = injure(
        join(folder, kind === 'log' ? 'crashed' : 'closed'),
        trialFolder,
        kind,
        random,
      );
      const begun = performance.now();
      const outcome = await outcomeOf(trialFolder, variants, sound, kind === 'log');
      figures.trials += 1;
      figures[outcome] += 1;
      figures.slowestStartMs = Math.max(
        figures.slowestStartMs,
        Math.round(performance.now() - begun),
      );
      if (outcome === 'servedDamaged') violations.add(`damaged data was served: ${about}`);
      rmSync(trialFolder, { recursive: true });
    }
    return { figures, violations: violations.list() };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Creates two databases with equal contents: one closed cleanly, and one whose last writes are only
 * in the WAL. Returns the contents.
 */
async function makeDatabases(folder: string): Promise<Map<string, string>> {
  const trialFolder = join(folder, 'crashed');
  mkdirSync(trialFolder);
  const target = createTarget({ folder: trialFolder });
  await target.start();
  for (let count = 0; count < memories; count += 1) {
    const body = { userId, content: `${count} ${'some text '.repeat(count % 30)}` };
    await send(target, { method: 'POST', path: '/v1/memories', body });
  }
  const sound = new Map((await listAll(target, userId)).map(({ id, content }) => [id, content]));
  await target.kill();
  const closed = join(folder, 'closed');
  mkdirSync(closed);
  copyDatabase(trialFolder, closed);
  const again = createTarget({ folder: closed });
  await again.start();
  if ((await again.stop()) !== 0) throw new Error('the server did not close its database');
  return sound;
}

function copyDatabase(from: string, to: string): void {
  for (const name of ['memory.db', 'memory.db-wal']) {
    if (existsSync(join(from, name))) copyFileSync(join(from, name), join(to, name));
  }
}

/** Copies the database, damages the copy, and returns a description of the damage. */
function injure(from: string, to: string, kind: Kind, random: Random): string {
  copyDatabase(from, to);
  const path = join(to, kind === 'log' ? 'memory.db-wal' : 'memory.db');
  const bytes = readFileSync(path);
  const pages = Math.floor(bytes.length / pageBytes);
  if (kind === 'cut') {
    const length = random.between(1, pages) * pageBytes - random.between(0, pageBytes);
    writeFileSync(path, bytes.subarray(0, length));
    return `cut to ${length} of ${bytes.length} bytes`;
  }
  const [start, length] =
    kind === 'header'
      ? [random.between(0, 80), 16]
      : [random.between(1, pages) * pageBytes, pageBytes];
  const [filler, other] = [random.between(0, 256), random.between(1, pages) * pageBytes];
  if (kind === 'swap') {
    const [one, two] = [start, other].map((at) => Buffer.from(bytes.subarray(at, at + pageBytes)));
    one?.copy(bytes, other);
    two?.copy(bytes, start);
  } else bytes.fill(filler, start, start + length);
  writeFileSync(path, bytes);
  const change = kind === 'swap' ? `swapped with ${other}` : `filled with ${filler}`;
  return `${kind}: ${length} bytes at ${start} ${change}`;
}

type Outcome = 'didNotStart' | 'servedIntact' | 'logTruncated' | 'servedDamaged';

async function outcomeOf(
  folder: string,
  variants: string[],
  sound: Map<string, string>,
  isLog: boolean,
): Promise<Outcome> {
  const target = createTarget({ variants, folder });
  try {
    await target.start();
  } catch {
    return 'didNotStart';
  }
  try {
    return await compare(target, sound, isLog);
  } finally {
    await target.kill();
  }
}

/**
 * Compares the contents. SQLite ignores the WAL from the first damaged frame on. The loss of those
 * writes cannot be detected, so it is permitted.
 */
async function compare(
  target: Target,
  sound: Map<string, string>,
  isLog: boolean,
): Promise<Outcome> {
  const shown = await listAll(target, userId).catch(() => null);
  if (shown === null) return 'servedDamaged';
  const wrong = shown.filter(({ id, content }) => sound.get(id) !== content);
  if (wrong.length > 0) return 'servedDamaged';
  if (shown.length === sound.size) return 'servedIntact';
  return isLog ? 'logTruncated' : 'servedDamaged';
}
