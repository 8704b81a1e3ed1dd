/*
 * Compares stages of the search with FTS5 on the questions of each data set:
 *
 *   bun tests/eval/stages.ts [--held-out] [folder with tickets.jsonl, documents/ and paragraphs/]
 *
 * Without the folder, the script uses only the project's own data. Tune with the questions that run
 * without --held-out, and use the held-out questions only for the final evaluation.
 */
import { type SearchWeights, searchWeights } from '../../server/search/weights.ts';
import { isHeldOut, type Turn } from './data.ts';
import { type Engine, fts5, ours } from './engines.ts';
import { ask, meanOf } from './measure.ts';
import { readSets } from './sets.ts';

type Step = { name: string; build(turns: Turn[]): Engine };

const most = 10;
const wordsAlone: Partial<SearchWeights> = {
  inflection: 0,
  synonym: 0,
  prefix: 0,
  fuzzy: 0,
  speaker: 0,
  phrase: 0,
  previous: 0,
};

const arguments_ = process.argv.slice(2);
const heldOut = arguments_.includes('--held-out');
const folder = arguments_.find((argument) => !argument.startsWith('--'));
for (const { name, users } of readSets(folder)) {
  console.log(`\n## ${name}\n| step | recall@5 | recall@10 | MRR |\n|---|---|---|---|`);
  for (const step of steps()) {
    const scores = users.flatMap(({ turns, questions }) =>
      ask(
        step.build(turns),
        questions.filter((question) => isHeldOut(question) === heldOut),
      ),
    );
    const { at5, at10, mrr } = meanOf(scores);
    const figures = [at5, at10, mrr].map((value) => value.toFixed(3));
    console.log(`| ${[step.name, ...figures].join(' | ')} |`);
  }
}

/**
 * Returns the steps to compare: FTS5, then the stages of the search, then the rejected variants.
 * Each stage includes all previous stages.
 */
function steps(): Step[] {
  const kept: [string, Partial<SearchWeights>][] = [
    ['BM25 over the words as written', {}],
    ['+ stems and irregular forms', { inflection: searchWeights.inflection }],
    ['+ synonyms', { synonym: searchWeights.synonym }],
    ['+ typos and prefixes', { prefix: searchWeights.prefix, fuzzy: searchWeights.fuzzy }],
    ['+ phrases and codes', { phrase: searchWeights.phrase }],
    ['+ the speaker', { speaker: searchWeights.speaker }],
    ['+ previous chunks (final)', { previous: searchWeights.previous }],
  ];
  const dropped: [string, Partial<SearchWeights>][] = [
    ['no length normalization', { turnB: 0, textB: 0 }],
    ['turns also normalized at 0.75', { turnB: 0.75 }],
    ['full weight for synonyms', { synonym: 1 }],
    ['full weight for neighbours without a speaker', { withoutSpeaker: 1 }],
  ];
  const withWeights = (name: string, weights: SearchWeights): Step => {
    return { name, build: (turns) => ours(turns, most, weights) };
  };
  let weights = { ...searchWeights, ...wordsAlone };
  return [
    { name: 'FTS5, OR, porter, no stop words', build: (turns) => fts5(turns, most) },
    ...kept.map(([name, change]) => {
      weights = { ...weights, ...change };
      return withWeights(name, weights);
    }),
    ...dropped.map(([name, change]) =>
      withWeights(`dropped: ${name}`, { ...searchWeights, ...change }),
    ),
  ];
}
