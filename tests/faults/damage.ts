import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../support/random.ts';
import { listAll, saveOf, send } from './api.ts';
import type { Figures, Harness, Run } from './harness.ts';
import { createTarget, startsUp, type Target } from './target.ts';

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

async function run({ tier, variants, random, violations, folder }: Run): Promise<Figures> {
  const figures = {
    trials: 0,
    didNotStart: 0,
    servedIntact: 0,
    logTruncated: 0,
    servedDamaged: 0,
    slowestStartMs: 0,
  };
  const sound = await makeDatabases(folder);
  for (let trial = 0; trial < trials[tier]; trial += 1) {
    const kind = kinds[trial % kinds.length] ?? 'page';
    const trialFolder = join(folder, `trial-${trial}`);
    mkdirSync(trialFolder);
    const from = join(folder, kind === 'log' ? 'crashed' : 'closed');
    const about = injure(from, trialFolder, kind, random);
    const begun = performance.now();
    const outcome = await outcomeOf(trialFolder, variants, sound, kind === 'log');
    const tookMs = Math.round(performance.now() - begun);
    figures.trials += 1;
    figures[outcome] += 1;
    figures.slowestStartMs = Math.max(figures.slowestStartMs, tookMs);
    if (outcome === 'servedDamaged') violations.add(`damaged data was served: ${about}`);
    rmSync(trialFolder, { recursive: true });
  }
  return figures;
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
    await send(target, saveOf(userId, `${count} ${'some text '.repeat(count % 30)}`));
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
  await using target = createTarget({ variants, folder });
  return (await startsUp(target)) ? await compare(target, sound, isLog) : 'didNotStart';
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
