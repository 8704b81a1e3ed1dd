import type { Command } from '@commander-js/extra-typings';
import type { Memory } from '../../sdk/index.ts';
import { connect } from '../client/connect.ts';
import { addHelp, Option, type Parent } from '../commander.ts';
import { addFilters, filtersOf } from '../filters.ts';
import { definedOnly, pageItems, parseLimit, userOption } from '../options.ts';
import { type Column, printJson, printJsonLine, printTable } from '../terminal/output.ts';
import { type GlobalOptions, note, type Terminal } from '../terminal/terminal.ts';
import { age, cut, cutStart } from '../terminal/text.ts';

export function addList(program: Parent, term: Terminal): void {
  const list = program
    .command('list')
    .usage('--user <id> [options]')
    .description("List a user's memories, newest first.")
    .addOption(userOption)
    .addOption(
      new Option('--order <order>', 'order by creation time').choices(['desc', 'asc'] as const),
    );
  const command = addPaging(list, 'memories');
  addFilters(command);
  command.action(async (options) => {
    const client = await connect(term);
    const { user: userId, ...paging } = options;
    const filters = filtersOf(command);
    const query = { ...definedOnly({ userId }), ...pageQuery(paging), ...filters };
    const pages = client.list(query, { signal: term.interrupted });
    const { from, to } = filters;
    // A duration such as 3d is a different time in the next command.
    const bounds = [from && `--from ${from} `, to && `--to ${to} `].join('');
    const none = 'No memories were found.';
    await printPages(term, options, pages, memoryColumns(term.now()), none, bounds);
  });
  addHelp(command, listHelp, [
    'memory list --user u-1',
    'memory list --user u-1 --type ticket -m priority=high',
    'memory list --user u-1 --from 2026-05 --to 2026-06',
    'memory list --user u-1 --all --json',
    'memory list --user u-1 | cut -f 1,5',
  ]);
}

const listHelp = `
With --cursor, repeat the other options of the first page, and use times instead
of durations: --from 3d is a different time in each command.

A pipe receives the id, type, status, createdAt and full content, separated by
tabs. A tab, newline or backslash in a value is written as \\t, \\n or \\\\, and
other control characters as in JSON.`;

const memoryColumns = (now: number): Column<Memory>[] => [
  { title: 'ID', value: ({ id }) => id },
  { title: 'TYPE', value: ({ type }) => type, usual: 'memory', dropped: 2 },
  { title: 'STATUS', value: ({ status }) => status, usual: 'complete', dropped: 3 },
  { title: 'AGE', value: (one) => one.createdAt, shown: (time) => age(time, now), dropped: 1 },
  { title: 'CONTENT', value: ({ content }) => content, shown: withTitle, cut: true },
];

/** Adds a document's title, because similar documents often start with the same text. */
function withTitle(content: string, memory: Memory): string {
  const title = titleOf(memory);
  if (title === '' || content.startsWith(title)) return content;
  return `${shownTitle(memory, titleWidth)}: ${content}`;
}

/** Leaves room for the text of the document. */
const titleWidth = 40;

/** Returns the title or the end of the external id, which is often a path. */
export function shownTitle(memory: Memory, width: number): string {
  const title = titleOf(memory);
  return title === memory.externalId ? cutStart(title, width) : cut(title, width);
}

/** Returns a document's title, or its external id; empty if it has neither. */
function titleOf({ type, metadata, externalId }: Memory): string {
  if (type !== 'document') return '';
  return (typeof metadata.title === 'string' ? metadata.title : externalId) ?? '';
}

type Pages<Item> = PromiseLike<{ items: Item[]; nextCursor: string | null }> & AsyncIterable<Item>;

type PageOptions = { all?: true | undefined; limit?: number | undefined };

const pageHelp = `
--json prints the page as one object, { items, nextCursor }; --all --json prints
only the items, one object per line.`;

/** Adds the options of a command that prints pages. `items` is what it lists. */
export function addPaging<Args extends unknown[], Options extends Record<string, unknown>>(
  command: Command<Args, Options, GlobalOptions>,
  items: string,
) {
  return command
    .option('-n, --limit <number>', `${items} per page, at most 100 (default: 20)`, parseLimit)
    .option('--cursor <cursor>', 'the nextCursor of the previous page')
    .option('--all', 'print all pages')
    .addHelpText('after', pageHelp);
}

/** With --all, the default page size is the maximum, which needs the fewest requests. */
export function pageQuery<Options extends PageOptions>({ all, ...query }: Options) {
  return all ? { limit: pageItems, ...query } : query;
}

/**
 * Prints a page, or all pages with --all. `none` is the message if there are no items; `bounds` are
 * the options that the next page needs as times.
 */
export async function printPages<Item extends object>(
  term: Terminal,
  { all, limit = pageItems }: PageOptions,
  pages: Pages<Item>,
  columns: Column<Item>[],
  none: string,
  bounds = '',
): Promise<void> {
  const { json } = term.options;
  const page = await pages;
  if (json && !all) return printJson(term, page);
  if (page.items.length === 0 && page.nextCursor === null && !json) await note(term, none);
  if (!all) {
    await printTable(term, columns, page.items);
    if (page.nextCursor === null) return;
    const next = `${bounds}--cursor ${page.nextCursor}`;
    return note(term, `More results are available: add --all, or ${next}`);
  }
  let rows: Item[] = [];
  for await (const item of pages) {
    if (json) await printJsonLine(term, item);
    else rows.push(item);
    if (rows.length < limit) continue;
    await printTable(term, columns, rows);
    rows = [];
  }
  await printTable(term, columns, rows);
}
