import type { FoundMemory } from '../../sdk/index.ts';
import type { Parent } from '../commander.ts';
import { connect } from '../connect.ts';
import { addExamples } from '../examples.ts';
import { usageError } from '../failure.ts';
import {
  externalIdFilter,
  filtersOf,
  metadataFilter,
  sourceFilter,
  typeFilter,
} from '../filters.ts';
import { textArgument } from '../input.ts';
import { type Io, note } from '../io.ts';
import { given, needUser, parseLimit, userOption } from '../options.ts';
import { type Column, printJson, printTable } from '../output.ts';
import { age, highlighted, indented, paint, visible } from '../text.ts';

export function addSearch(program: Parent, io: Io): void {
  const command = program
    .command('search')
    .argument('<query>', 'words or a question, or - for stdin')
    .usage('--user <id> [options] <query>')
    .description('Find memories of a user by what they say, the best first.')
    .addOption(userOption)
    .option('-n, --limit <number>', 'memories, up to 100 (default: 10)', parseLimit)
    .addOption(typeFilter)
    .addOption(sourceFilter)
    .addOption(externalIdFilter)
    .addOption(metadataFilter)
    .addHelpText('after', help);
  command.action(async (text) => {
    const options = command.optsWithGlobals();
    const userId = needUser(options.user);
    const client = await connect(io, options);
    const query = await textArgument(io, text);
    if (query === '') throw usageError('The query is empty: there is nothing to find.');
    const request = { userId, query, ...given({ limit: options.limit }), ...filtersOf(options) };
    const answer = await client.search(request, { signal: io.interrupted });
    if (options.json) return printJson(io, answer);
    await printFound(io, answer.items);
    if (answer.items.length === 0) await note(io, 'Nothing was found.');
  });
  addExamples(command, [
    'memory search --user u-1 "where is my refund"',
    'memory search --user u-1 --type ticket -m priority=high refund',
    `memory search --user u-1 '"dark mode"' | cut -f 1,5`,
  ]);
}

const help = `
A query is words or a question; nothing in it is syntax. Words in double quotes
that stand together rank higher.

In a pipe: id, score, type, createdAt and snippet, tab-separated; what matched
is in «guillemets».`;

const columns: Column<FoundMemory>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'SCORE', value: ({ score }) => `${score}` },
  { title: 'TYPE', value: ({ type }) => type },
  { title: 'CREATED', value: ({ createdAt }) => createdAt },
  { title: 'SNIPPET', value: ({ snippet }) => snippet },
];

/** A snippet has two lines or so: on a terminal it stands below its memory, not in a table. */
async function printFound(io: Io, found: FoundMemory[]): Promise<void> {
  if (!io.stdout.isTerminal) return printTable(io, columns, found);
  const now = io.now();
  for (const { id, type, createdAt, snippet } of found) {
    const about = `${visible(id)}  ${type === 'memory' ? '' : `${type}  `}${age(createdAt, now)}`;
    const text = highlighted(io.stdout, visible(snippet));
    await io.stdout.write(`${paint(io.stdout, 'dim', about)}\n${indented(io.stdout, text)}\n`);
  }
}
