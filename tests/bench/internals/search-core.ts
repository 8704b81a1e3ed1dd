/*
 * The CPU cost of search without a database: analysing a save, the bytes that are stored, and a
 * query over the chunks of one user.
 * Run: bun tests/bench/internals/search-core.ts [file with text, one text per line]
 */
import { readFileSync } from 'node:fs';
import { analyse } from '../../../server/search/analyse.ts';
import { parseQuery } from '../../../server/search/query.ts';
import { Search, type SearchPassage } from '../../../server/search/score.ts';
import { snippet } from '../../../server/search/snippet.ts';
import { searchWeights } from '../../../server/search/weights.ts';
import { readConversations } from '../../eval/data.ts';

const queries = {
  question: 'What did Marcus build in his garage last summer?',
  word: 'pottery',
  code: 'ERR-4711',
  'cut short': 'restaur',
  'typing mistake': 'accordoin lessons',
  'nothing found': 'zyxwvut',
};
const rounds = 40;

const file = process.argv[2];
const turns = readConversations().turns.map((turn) => turn.text);
const lines = file === undefined ? turns : readFileSync(file, 'utf8').split('\n').filter(Boolean);

printSave();
for (const [name, length] of [
  ['100 bytes', 100],
  ['1,000 characters', 1000],
] as const) {
  const texts = textsOf(length);
  for (const count of [100, 1_000, 10_000]) printQueries(name, texts, count);
}

/** Texts of about one length, so that a figure says what it is for. */
function textsOf(length: number): string[] {
  const all = lines.join('\n');
  const texts: string[] = [];
  for (let at = 0; texts.length < 10_000; at += length) {
    texts.push(all.slice(at % (all.length - length), (at % (all.length - length)) + length));
  }
  return texts;
}

function printSave(): void {
  const texts = textsOf(100);
  let stored = 0;
  for (const text of texts) stored += Buffer.byteLength(analyse(text));
  const content = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const micros = texts.map((text) => timed(() => analyse(text)) * 1_000);
  console.log(`analysing 100 bytes: p50 ${at(micros, 0.5)} µs, p95 ${at(micros, 0.95)} µs`);
  console.log(`stored: ${(stored / content).toFixed(2)} of the content's bytes`);
}

function printQueries(name: string, texts: string[], count: number): void {
  const passages = texts.slice(0, count).map((text, memory) => {
    return { memory, ordinal: 0, folded: analyse(text) };
  });
  console.log(`\n${count} passages of ${name}`);
  for (const [kind, query] of Object.entries(queries)) {
    const times = Array.from({ length: rounds }, () => timed(() => ask(query, passages, texts)));
    console.log(`  ${kind.padEnd(16)} p50 ${at(times, 0.5)} ms, p95 ${at(times, 0.95)} ms`);
  }
}

function ask(query: string, passages: SearchPassage[], texts: string[]): string[] {
  const search = new Search(parseQuery(query), searchWeights);
  for (const passage of passages) search.add(passage);
  const found = search.best(10);
  return found.map(({ passage }) => snippet(texts[passage.memory] ?? '', search.matcher));
}

function timed(run: () => unknown): number {
  const start = performance.now();
  run();
  return performance.now() - start;
}

function at(values: number[], share: number): string {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(2);
}
