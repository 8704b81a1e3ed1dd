/*
 * Measures search without a database: how long it takes to build one user's index, how much memory
 * the index uses, and how long queries take.
 * Run: bun tests/bench/internals/search-core.ts [file with one string per line]
 */
import { readFileSync } from 'node:fs';
import { indexedChunks } from '../../../server/memory/chunks.ts';
import { SearchIndex } from '../../../server/search/index.ts';
import { normalizeWords } from '../../../server/search/normalize.ts';
import { parseQuery } from '../../../server/search/query.ts';
import { snippet } from '../../../server/search/snippet.ts';
import { readConversations } from '../../eval/data.ts';
import { quantile } from '../kit/numbers.ts';

const sizes = [
  { count: 1_000, length: 100 },
  { count: 10_000, length: 100 },
  { count: 50_000, length: 100 },
  { count: 16_000, length: 1_000 },
];
const queries = {
  'six words': 'What did Marcus build in his garage last summer?',
  'one word': 'pottery ',
  code: 'ERR-4711',
  prefix: 'restaur',
  typo: 'accordoin lessons?',
  'no match': 'zyxwvut ',
};
const rounds = 40;
const results = 10;

const file = process.argv[2];
const turns = readConversations().turns.map((turn) => turn.text);
const lines = file === undefined ? turns : readFileSync(file, 'utf8').split('\n').filter(Boolean);
const source = lines.join(' ');

for (const { count, length } of sizes) print(textsOf(count, length), length);

/**
 * Cuts the source at word boundaries into `count` texts of about `length` characters. Starts again
 * at another offset when the source is used up.
 */
function textsOf(count: number, length: number): string[] {
  const texts: string[] = [];
  let start = 0;
  while (texts.length < count) {
    const end = source.indexOf(' ', start + length - 8);
    if (end < 0) start = (texts.length * 37) % 1_000;
    else texts.push(source.slice(start, end));
    start = end < 0 ? start : end + 1;
  }
  return texts;
}

function print(texts: string[], length: number): void {
  build(texts.slice(0, 1_000));
  const times = [1, 2, 3].map(() => timed(() => build(texts)));
  const index = build(texts);
  const words = texts.map((text) => normalizeWords(text).split(' '));
  const tokens = words.reduce((sum, { length }) => sum + length, 0);
  const micros = (Math.min(...times) * 1_000) / texts.length;
  console.log(`\n${texts.length} memories of ${length} bytes, ${tokens} tokens`);
  console.log(
    `  build            ${Math.min(...times).toFixed(0)} ms, ${micros.toFixed(1)} µs each`,
  );
  console.log(`  memory           ${(index.bytes / tokens).toFixed(1)} bytes per token`);
  const common = commonWords(words.flat()).map((word) => `"${word}"`);
  for (const [kind, query] of Object.entries({ ...queries, '48 common words': common.join(' ') })) {
    const spans = Array.from({ length: rounds }, () => timed(() => ask(query, index, texts)));
    console.log(`  ${kind.padEnd(16)} p50 ${at(spans, 0.5)} ms, p95 ${at(spans, 0.95)} ms`);
  }
}

function build(texts: string[]): SearchIndex {
  const index = new SearchIndex();
  for (const [at, text] of texts.entries()) {
    // Ids have the length of the service's ids, so that they take as much memory.
    const id = `mem_${String(at).padStart(32, '0')}`;
    index.put({ id, createdAt: at, chunks: indexedChunks(text, '{}') });
  }
  return index;
}

function ask(query: string, index: SearchIndex, texts: string[]): string[] {
  const ranked = index.search(parseQuery(query));
  const shown: string[] = [];
  for (const { id, start, length } of ranked) {
    const text = texts[Number(id.slice('mem_'.length))] ?? '';
    const chunk = text.slice(start, start + length);
    if (shown.push(snippet(chunk, ranked.matcher).snippet) === results) break;
  }
  return shown;
}

function commonWords(words: string[]): string[] {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const sorted = [...counts].sort((left, right) => right[1] - left[1]);
  return sorted.slice(0, 48).map(([word]) => word);
}

function timed(run: () => unknown): number {
  const start = performance.now();
  run();
  return performance.now() - start;
}

function at(values: number[], share: number): string {
  return quantile(values, share).toFixed(2);
}
