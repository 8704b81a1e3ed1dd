import type { Memory } from '../../sdk/index.ts';
import { connect } from '../client/connect.ts';
import { addExamples } from '../command-metadata.ts';
import { Option, type Parent } from '../commander.ts';
import * as filters from '../filters.ts';
import { definedOnly, needUser, parseLimit, userOption } from '../options.ts';
import { pageSize, printPages } from '../pages.ts';
import type { Column } from '../terminal/output.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { age } from '../terminal/text.ts';

export function addList(program: Parent, term: Terminal): void {
  const command = program
    .command('list')
    .usage('--user <id> [options]')
    .description('List the memories of a user, newest first.')
    .addOption(userOption)
    .option('-n, --limit <number>', 'memories per page, at most 100 (default: 20)', parseLimit)
    .addOption(
      new Option('--order <order>', 'the order by creation time').choices(['desc', 'asc'] as const),
    )
    .option('--cursor <cursor>', 'the nextCursor of the previous page')
    .option('--all', 'print all pages')
    .addOption(filters.typeFilter)
    .addOption(filters.sourceFilter)
    .addOption(filters.externalIdFilter)
    .addOption(filters.fromFilter)
    .addOption(filters.toFilter)
    .addOption(filters.metadataFilter)
    .addHelpText('after', help);
  command.action(async () => {
    const options = command.optsWithGlobals();
    const userId = needUser(options.user);
    const client = await connect(term, options);
    const { order, cursor } = options;
    const narrowed = filters.filtersOf(options);
    const query = { userId, ...definedOnly({ limit: pageSize(options), order, cursor }) };
    const pages = client.list({ ...query, ...narrowed }, { signal: term.interrupted });
    const match = Object.keys(narrowed).length > 0 ? ' match the filters' : '';
    const none = `No memories of ${userId}${match}.`;
    await printPages(term, options, pages, columnsAt(term.now()), none);
  });
  addExamples(command, [
    'memory list --user u-1',
    'memory list --user u-1 --type ticket -m priority=high',
    'memory list --user u-1 --from 2026-05 --to 2026-06',
    'memory list --user u-1 --all --json',
    'memory list --user u-1 | cut -f 1,5',
  ]);
}

const help = `
--json prints the page as one object, { items, nextCursor }; --all --json prints
only the memories, one object per line.

A pipe receives the id, type, status, createdAt and full content, separated by
tabs. A tab, newline or backslash in a value is written as \\t, \\n or \\\\, other
control characters as in JSON.`;

const columnsAt = (now: number): Column<Memory>[] => [
  { title: 'ID', value: ({ id }) => id },
  { title: 'TYPE', value: ({ type }) => type, usual: 'memory', dropped: 2 },
  { title: 'STATUS', value: ({ status }) => status, usual: 'complete', dropped: 3 },
  { title: 'AGE', value: (one) => one.createdAt, shown: (time) => age(time, now), dropped: 1 },
  { title: 'CONTENT', value: ({ content }) => content, shown: withTitle, cut: true },
];

/** Adds the title of a document, because similar documents often start with the same text. */
function withTitle(content: string, { type, metadata, externalId }: Memory): string {
  const title = typeof metadata.title === 'string' ? metadata.title : externalId;
  const isTold = type !== 'document' || !title || content.startsWith(title);
  return isTold ? content : `${title}: ${content}`;
}
