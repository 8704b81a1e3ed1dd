/*
 * Measures search without a database: how long it takes to build one user's index, how much memory
 * the index uses, and how long queries take.
 * Run: bun tests/bench/internals/search-core.ts
 */
import { indexedChunks } from '../../../server/memory/chunks.ts';
import { SearchIndex } from '../../../server/search/index.ts';
import { normalizeWords } from '../../../server/search/normalize.ts';
import { parseQuery } from '../../../server/search/query.ts';
import { snippet } from '../../../server/search/snippet.ts';
import { textOf } from '../kit/dataset.ts';
import { quantile, short } from '../kit/numbers.ts';
import { timed } from '../kit/rounds.ts';

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

for (const { count, length } of sizes) {
  const texts = Array.from({ length: count }, (_, at) => textOf(at, length));
  build(texts.slice(0, 1_000));
  const buildMs = Math.min(...(await timesOf(3, () => build(texts))));
  const index = build(texts);
  const words = texts.flatMap((text) => normalizeWords(text).split(' '));
  console.log(`\n${count} memories of ${length} bytes, ${words.length} tokens`);
  console.log(`  build            ${short(buildMs)} ms`);
  console.log(`  memory           ${short(index.bytes / words.length)} bytes per token`);
  const common = commonWords(words).map((word) => `"${word}"`);
  for (const [kind, query] of Object.entries({ ...queries, '48 common words': common.join(' ') })) {
    const times = await timesOf(rounds, () => ask(query, index, texts));
    const [p50 = 0, p95 = 0] = [0.5, 0.95].map((share) => quantile(times, share));
    console.log(`  ${kind.padEnd(16)} p50 ${short(p50)} ms, p95 ${short(p95)} ms`);
  }
}

async function timesOf(count: number, run: () => unknown): Promise<number[]> {
  const times: number[] = [];
  for (let at = 0; at < count; at += 1) times.push(await timed(run));
  return times;
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
    if (shown.push(snippet(chunk, ranked).snippet) === results) break;
  }
  return shown;
}

function commonWords(words: string[]): string[] {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const sorted = [...counts].sort((left, right) => right[1] - left[1]);
  return sorted.slice(0, 48).map(([word]) => word);
}
