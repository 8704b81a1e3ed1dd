import type { FoundMemory, SearchAnswer } from '../../sdk/index.ts';
import { connect } from '../client/connect.ts';
import { addHelp, Option, type Parent } from '../commander.ts';
import { usageError } from '../errors.ts';
import { addFilters, filtersOf } from '../filters.ts';
import { definedOnly, parseLimit, userOption } from '../options.ts';
import { textArgument } from '../terminal/input.ts';
import { printJson, rowOf } from '../terminal/output.ts';
import { note, type Terminal } from '../terminal/terminal.ts';
import { age, highlighted, indented, paint, quoted } from '../terminal/text.ts';
import { shownTitle } from './list.ts';

export function addSearch(program: Parent, term: Terminal): void {
  const command = program
    .command('search')
    .argument('<query>', 'words or a question, or - for stdin')
    .usage('--user <id> [options] <query>')
    .description("Search a user's memories, best match first.")
    .addOption(userOption)
    .option('-n, --limit <number>', 'the number of results, at most 100 (default: 10)', parseLimit)
    .addOption(modeOption)
    .option('--explain', 'show the parts of each score');
  addFilters(command);
  command.action(async (text, options) => {
    const client = await connect(term);
    const query = await textArgument(term, text);
    if (query === '') throw usageError('The query must not be empty.');
    const { user: userId, limit, mode, explain } = options;
    const chosen = definedOnly({ userId, limit, mode, explain });
    const request = { query, ...chosen, ...filtersOf(command) };
    const answer = await client.search(request, { signal: term.interrupted });
    if (term.options.json) return printJson(term, answer);
    await printFound(term, answer.items);
    if (answer.items.length === 0) {
      const of = userId === undefined ? '' : ` --user ${quoted(userId)}`;
      await note(term, `Nothing was found. To list what there is: memory list${of}`);
    }
    const incomplete = incompleteMeaning[answer.meaning];
    if (incomplete !== undefined) await note(term, incomplete);
  });
  addHelp(command, help, [
    'memory search --user u-1 "where is my refund"',
    'memory search --user u-1 --type ticket -m priority=high refund',
    'memory search --user u-1 --from 2026-05-08 refund',
    `memory search --user u-1 '"dark mode"' | cut -f 1,5`,
    'memory search --user u-1 --explain "what food should I avoid for her?"',
  ]);
}

const help = `
A query is plain words or a question; there are no operators. If it contains a
phrase in double quotes, memories that contain this phrase rank higher.

Memories are found by words and, if the service has a model, by meaning. Only
memories whose status is complete are found.

A pipe receives the id, score, type, createdAt and snippet, separated by tabs.
With --explain, it also receives matchedBy and the parts of the score: words,
phrase, date and meaning.`;

const modeOption = new Option('--mode <mode>', 'how to find memories (default: auto)').choices([
  'auto',
  'words',
  'meaning',
] as const);

/** What to tell about a search that compared meanings in part or not at all. */
const incompleteMeaning: Partial<Record<SearchAnswer['meaning'], string>> = {
  partial: 'Some memories have not been embedded yet; until then, only words find them.',
  unavailable: "The service's model does not answer; memories were found by words alone.",
};

const partNames = ['words', 'phrase', 'date', 'meaning'] as const;

/** The values of one line in a pipe. */
function cellsOf({ id, score, type, createdAt, snippet, matchedBy, parts }: FoundMemory) {
  const cells = [id, `${score}`, type, createdAt, snippet];
  return parts ? [...cells, matchedBy, ...partNames.map((name) => `${parts[name]}`)] : cells;
}

/** Shows how a score came about on one line. */
function explained({ score, matchedBy, parts }: FoundMemory): string {
  const shares = partNames.map((name) => `${name} ${parts?.[name]}`);
  return `score ${score}  ${shares.join('  ')}  (found by ${matchedBy})`;
}

/** On a terminal, prints each snippet below its memory, because a snippet needs several lines. */
async function printFound(term: Terminal, found: FoundMemory[]): Promise<void> {
  if (!term.stdout.isTerminal) {
    const lines = found.map((memory) => `${rowOf(term, cellsOf(memory))}\n`);
    return term.stdout.write(lines.join(''));
  }
  const now = term.now();
  for (const memory of found) {
    const { id, type, createdAt, snippet, highlights } = memory;
    const about = `${id}  ${type === 'memory' ? '' : `${type}  `}${age(createdAt, now)}`;
    const title = shownTitle(memory, Math.max(10, term.stdout.columns - about.length - 2));
    const head = title === '' ? about : `${about}  ${title}`;
    const text = highlighted(term.stdout, snippet, highlights);
    await term.stdout.write(`${paint(term.stdout, 'dim', head)}\n${indented(term.stdout, text)}\n`);
    if (memory.parts === undefined) continue;
    const line = indented(term.stdout, explained(memory));
    await term.stdout.write(`${paint(term.stdout, 'dim', line)}\n`);
  }
}
