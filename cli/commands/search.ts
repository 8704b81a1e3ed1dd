import type { FoundMemory } from '../../sdk/index.ts';
import { connect } from '../client/connect.ts';
import { addExamples, addNotes, type Parent } from '../commander.ts';
import { usageError } from '../errors.ts';
import { addFilters, filtersOf } from '../filters.ts';
import { definedOnly, parseLimit, userOption } from '../options.ts';
import { textArgument } from '../terminal/input.ts';
import { type Column, printJson, printTable } from '../terminal/output.ts';
import { note, type Terminal } from '../terminal/terminal.ts';
import { age, escapeControls, highlighted, indented, paint } from '../terminal/text.ts';
import { shownTitle } from './list.ts';

export function addSearch(program: Parent, term: Terminal): void {
  const command = program
    .command('search')
    .argument('<query>', 'words or a question, or - for stdin')
    .usage('--user <id> [options] <query>')
    .description("Search a user's memories, best match first.")
    .addOption(userOption)
    .option('-n, --limit <number>', 'the number of results, at most 100 (default: 10)', parseLimit);
  addFilters(command);
  command.action(async (text) => {
    const options = command.optsWithGlobals();
    const client = await connect(term, options);
    const query = await textArgument(term, text);
    if (query === '') throw usageError('The query must not be empty.');
    const { user: userId, limit } = options;
    const request = { query, ...definedOnly({ userId, limit }), ...filtersOf(command) };
    const answer = await client.search(request, { signal: term.interrupted });
    if (options.json) return printJson(term, answer);
    await printFound(term, answer.items);
    if (answer.items.length === 0) await note(term, 'Nothing was found.');
  });
  addNotes(command, help);
  addExamples(command, [
    'memory search --user u-1 "where is my refund"',
    'memory search --user u-1 --type ticket -m priority=high refund',
    'memory search --user u-1 --from 2026-05-08 refund',
    `memory search --user u-1 '"dark mode"' | cut -f 1,5`,
  ]);
}

const help = `
A query is plain words or a question; there are no operators. If it contains a
phrase in double quotes, memories that contain this phrase rank higher.

A pipe receives the id, score, type, createdAt and snippet, separated by tabs.`;

const columns: Column<FoundMemory>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'SCORE', value: ({ score }) => `${score}` },
  { title: 'TYPE', value: ({ type }) => type },
  { title: 'CREATED', value: ({ createdAt }) => createdAt },
  { title: 'SNIPPET', value: ({ snippet }) => snippet },
];

/** On a terminal, prints each snippet below its memory, because a snippet needs several lines. */
async function printFound(term: Terminal, found: FoundMemory[]): Promise<void> {
  if (!term.stdout.isTerminal) return printTable(term, columns, found);
  const now = term.now();
  for (const memory of found) {
    const { id, type, createdAt, snippet, highlights } = memory;
    const about = `${escapeControls(id)}  ${type === 'memory' ? '' : `${type}  `}${age(createdAt, now)}`;
    const title = shownTitle(memory, Math.max(10, term.stdout.columns - about.length - 2));
    const head = title === '' ? about : `${about}  ${title}`;
    const text = highlighted(term.stdout, snippet, highlights);
    await term.stdout.write(`${paint(term.stdout, 'dim', head)}\n${indented(term.stdout, text)}\n`);
  }
}
