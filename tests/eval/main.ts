/*
 * Measures the search of a running service, beside FTS5, on questions with known answers:
 *
 *   bun tests/eval/main.ts [--held-out] [--meaning] [--against <checkout>] [--only <set>]
 *                          [folder]
 *
 * The folder contains tickets.jsonl, documents/ and paragraphs/. Without it, the script uses only
 * the project's own data. With --against, the script also runs the service of another checkout on
 * the same data and prints paired differences. With --meaning, it also searches by meaning, with
 * the built-in model or the endpoint that MEMORY_EMBEDDINGS names. --only selects the sets whose
 * name contains a text. Tune with the questions that run without --held-out, and use the held-out
 * questions only for the final evaluation.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { MemoryClient } from '../../sdk/index.ts';
import { type Answer, answersOf } from './answers.ts';
import { meanOf } from './measure.ts';
import { averageOf, pairedDifference } from './paired-difference.ts';
import { readSets } from './sets.ts';

/** A long document on a busy machine may take a while. */
const timeoutMs = 10 * 60_000;
/** A set that falls by more than this, or beyond its interval, is marked. */
const largestFall = 0.015;

const { values, positionals } = parseArgs({
  options: {
    'held-out': { type: 'boolean', default: false },
    meaning: { type: 'boolean', default: false },
    against: { type: 'string' },
    only: { type: 'string', default: '' },
  },
  allowPositionals: true,
});
const heldOut = values['held-out'];
const withMeaning = values.meaning;
const sets = readSets(positionals[0]).filter(({ name }) => name.includes(values.only));
const current = await run(join(import.meta.dir, '../..'), printSet);
if (values.against !== undefined) {
  const before = await run(resolve(values.against), () => {});
  printDifferences(before, current);
}

/**
 * Runs the service of a checkout on every set, at the times at which the questions are asked. Calls
 * `show` with the answers of each set.
 */
async function run(
  root: string,
  show: (name: string, answers: Answer[]) => void,
): Promise<Answer[][]> {
  const { startServer }: typeof import('../../server/main.ts') = await import(
    join(root, 'server/main.ts')
  );
  const folder = mkdtempSync(join(tmpdir(), 'memory-eval-'));
  const clock = { nowMs: Date.now() };
  const service = await startServer({
    env: { MEMORY_RATE_LIMIT: 'off', LOG_LEVEL: 'error', ...embeddings() },
    port: 0,
    databaseUrl: `sqlite:${join(folder, 'memory.db')}`,
    now: () => clock.nowMs,
  });
  const { firstKey, url: baseUrl } = service;
  const client = new MemoryClient({ apiKey: firstKey ?? '', baseUrl, timeoutMs });
  try {
    const answers: Answer[][] = [];
    for (const set of sets) {
      const ofSet = await answersOf({ client, clock, set, heldOut, withMeaning });
      show(set.name, ofSet);
      answers.push(ofSet);
    }
    return answers;
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true });
  }
}

function embeddings(): Record<string, string | undefined> {
  const { MEMORY_EMBEDDINGS = 'local', MEMORY_EMBEDDINGS_MODEL } = process.env;
  return withMeaning
    ? { MEMORY_EMBEDDINGS, MEMORY_EMBEDDINGS_MODEL }
    : { MEMORY_EMBEDDINGS: 'off' };
}

/** Prints the figures of all questions of a set, and of each kind if there are several. */
function printSet(name: string, answers: Answer[]): void {
  const kinds = [...new Set(answers.map(({ kind }) => kind))].sort();
  console.log(`\n## ${name}`);
  const columns = ['FTS5', 'words', ...(withMeaning ? ['words and meaning'] : [])];
  const head = columns.flatMap((column) => [`${column} R@1`, 'R@5', 'R@10', 'MRR']);
  console.log(`| questions | ${head.join(' | ')} |`);
  console.log(`|---${'|---'.repeat(head.length)}|`);
  printRow('all', answers);
  for (const kind of kinds.length > 1 ? kinds : []) {
    printRow(
      kind,
      answers.filter((answer) => answer.kind === kind),
    );
  }
}

function printRow(name: string, answers: Answer[]): void {
  const meanings = answers.flatMap(({ meaning }) => meaning ?? []);
  const columns = [answers.map(({ fts5 }) => fts5), answers.map(({ ours }) => ours), meanings];
  const figures = columns.flatMap((scores) => {
    if (scores.length === 0) return [];
    const { at1, at5, at10, mrr } = meanOf(scores);
    return [at1, at5, at10, mrr].map((value) => value.toFixed(3));
  });
  console.log(`| ${[`${name} (${answers.length})`, ...figures].join(' | ')} |`);
}

/** Prints the means of both checkouts, and the mean difference with its interval. */
function printDifferences(before: Answer[][], after: Answer[][]): void {
  console.log('\n## differences to the other checkout, with 95 % intervals');
  console.log('| set | R@10 before | after | difference | MRR before | after | difference |');
  console.log('|---|---|---|---|---|---|---|');
  for (const [index, { name }] of sets.entries()) {
    const columns = (['at10', 'mrr'] as const).flatMap((score) => {
      const scores = (list: Answer[][]) => (list[index] ?? []).map(({ ours }) => ours[score]);
      return differenceColumns(scores(before), scores(after));
    });
    console.log(`| ${[name, ...columns].join(' | ')} |`);
  }
}

function differenceColumns(before: number[], after: number[]): string[] {
  const { mean, low, high } = pairedDifference(before, after);
  const falls = high < 0 || mean < -largestFall ? ' falls' : '';
  const interval = `${mean.toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}]${falls}`;
  return [averageOf(before).toFixed(3), averageOf(after).toFixed(3), interval];
}
