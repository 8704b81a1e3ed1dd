/*
 * Compares stages of the search with FTS5 on questions of several kinds:
 *
 *   bun tests/eval/stages.ts [--held-out] [folder with tickets.jsonl, documents/ and paragraphs/]
 *
 * Without the folder, the script uses only the project's own conversations. Tune with the questions
 * that run without --held-out, and use the held-out questions only for the final evaluation.
 */
import { type SearchWeights, searchWeights } from '../../server/search/weights.ts';
import {
  bySession,
  isHeldOut,
  type Question,
  readConversations,
  readDocuments,
  readParagraphs,
  readTickets,
  type Turn,
  type User,
} from './data.ts';
import { type Engine, fts5, ours } from './engines.ts';
import { type Figures, measure } from './measure.ts';

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
for (const user of readUsers()) printUser(user);
if (folder !== undefined) printParagraphs(readParagraphs(folder));

function readUsers(): User[] {
  const conversations = readConversations();
  const own = [conversations, bySession(conversations)];
  if (folder === undefined) return own;
  const tickets = readTickets(folder);
  return [...own, tickets, bySession(tickets), readDocuments(folder)];
}

function asked({ questions }: User): Question[] {
  return questions.filter((question) => isHeldOut(question) === heldOut);
}

/** Prints one row per language. The other data sets are in English. */
function printParagraphs(users: User[]): void {
  if (users.length === 0) return;
  console.log('\n## paragraphs in several languages');
  console.log('| language | FTS5 recall@10 | MRR | ours recall@10 | MRR |\n|---|---|---|---|---|');
  for (const user of users) {
    const { name, turns } = user;
    const engines = [fts5(turns, most), ours(turns, most, searchWeights)];
    const figures = engines.flatMap((engine) => {
      const { at10, mrr } = measure(engine, turns, asked(user));
      return [figure(at10), figure(mrr)];
    });
    console.log(`| ${[`${name} (${asked(user).length})`, ...figures].join(' | ')} |`);
  }
}

function printUser(user: User): void {
  const questions = asked(user);
  console.log(`\n## ${user.name}: ${user.turns.length} memories, ${questions.length} questions`);
  console.log('| step | recall@5 | recall@10 | sessions@10 | MRR |\n|---|---|---|---|---|');
  for (const { name, build } of steps()) {
    console.log(rowOf(name, measure(build(user.turns), user.turns, questions)));
  }
  console.log('\n| kind | FTS5 recall@10, MRR | ours recall@5 | recall@10 | sessions@10 | MRR |');
  console.log('|---|---|---|---|---|---|');
  for (const kind of [...new Set(questions.map((question) => question.kind))].sort()) {
    printKind(
      kind,
      user.turns,
      questions.filter((question) => question.kind === kind),
    );
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
  const list: Step[] = [{ name: 'FTS5, OR, porter, no stop words', build: (t) => fts5(t, most) }];
  let weights = { ...searchWeights, ...wordsAlone };
  for (const [name, change] of kept) {
    weights = { ...weights, ...change };
    list.push(withWeights(name, weights));
  }
  list.push(
    withWeights('dropped: no length normalization', { ...searchWeights, turnB: 0, textB: 0 }),
    withWeights('dropped: turns also normalized at 0.75', { ...searchWeights, turnB: 0.75 }),
    withWeights('dropped: full weight for synonyms', { ...searchWeights, synonym: 1 }),
    withWeights('dropped: full weight for neighbours without a speaker', {
      ...searchWeights,
      withoutSpeaker: 1,
    }),
  );
  return list;
}

function withWeights(name: string, weights: SearchWeights): Step {
  return { name, build: (turns) => ours(turns, most, weights) };
}

function printKind(kind: string, turns: Turn[], questions: Question[]): void {
  const raw = measure(fts5(turns, most), turns, questions);
  const final = measure(ours(turns, most, searchWeights), turns, questions);
  const name = `${kind} (${questions.length}) | ${figure(raw.at10)}, ${figure(raw.mrr)}`;
  console.log(rowOf(name, final));
}

function rowOf(name: string, { at5, at10, sessions, mrr }: Figures): string {
  return `| ${[name, ...[at5, at10, sessions, mrr].map(figure)].join(' | ')} |`;
}

function figure(value: number): string {
  return value.toFixed(3);
}
