import type { Memory, MemoryClient, Page } from '../../sdk/index.ts';
import { connect } from '../client/connect.ts';
import { addExamples } from '../command-metadata.ts';
import { Option, type Parent } from '../commander.ts';
import {
  externalIdFilter,
  filtersOf,
  fromFilter,
  metadataFilter,
  sourceFilter,
  toFilter,
  typeFilter,
} from '../filters.ts';
import { definedOnly, needUser, parseLimit, userOption } from '../options.ts';
import { type Column, printJson, printJsonLine, printTable } from '../terminal/output.ts';
import { note, type Terminal } from '../terminal/terminal.ts';
import { age } from '../terminal/text.ts';

export function addList(program: Parent, term: Terminal): void {
  const command = program
    .command('list')
    .usage('--user <id> [options]')
    .description('List the memories of a user, the newest first.')
    .addOption(userOption)
    .option('-n, --limit <number>', 'memories a page, up to 100 (default: 20)', parseLimit)
    .addOption(new Option('--order <order>', 'by creation').choices(['desc', 'asc'] as const))
    .option('--cursor <cursor>', 'go on from there: the nextCursor of the page before')
    .option('--all', 'every page')
    .addOption(typeFilter)
    .addOption(sourceFilter)
    .addOption(externalIdFilter)
    .addOption(fromFilter)
    .addOption(toFilter)
    .addOption(metadataFilter)
    .addHelpText(
      'after',
      '\n--json prints the page as one object, { items, nextCursor }; --all --json prints' +
        '\nthe memories alone, one object on each line.' +
        '\n\nIn a pipe: id, type, status, createdAt and content, tab-separated and whole;' +
        '\ntab, newline and backslash in a text are written \\t, \\n and \\\\, other control' +
        '\ncharacters as in JSON.',
    );
  command.action(async () => {
    const options = command.optsWithGlobals();
    const userId = needUser(options.user);
    const client = await connect(term, options);
    const { limit, order, cursor } = options;
    const filters = filtersOf(options);
    const query = { userId, ...definedOnly({ limit, order, cursor }), ...filters };
    if (options.all) return printEvery(term, options.json, client, query);
    const page = await client.list(query, { signal: term.interrupted });
    if (options.json) return printJson(term, page);
    const narrowed = Object.keys(filters).length > 0;
    await printPage(term, page, `No memories of ${userId}${narrowed ? ' match' : ''}.`);
  });
  addExamples(command, [
    'memory list --user u-1',
    'memory list --user u-1 --type ticket -m priority=high',
    'memory list --user u-1 --from 2026-05 --to 2026-06',
    'memory list --user u-1 --all --json',
    'memory list --user u-1 | cut -f 1,5',
  ]);
}

async function printPage(term: Terminal, page: Page, none: string) {
  await printTable(term, columnsAt(term), page.items);
  if (page.items.length === 0) await note(term, none);
  if (page.nextCursor !== null) {
    await note(term, `There are more: add --all, or --cursor ${page.nextCursor}`);
  }
}

/** Page by page, so that the first ones show while the rest is fetched. */
async function printEvery(
  term: Terminal,
  json: true | undefined,
  client: MemoryClient,
  query: Parameters<MemoryClient['list']>[0],
) {
  let rows: Memory[] = [];
  const columns = columnsAt(term);
  const pageSize = query.limit ?? 100;
  for await (const memory of client.list(
    { ...query, limit: pageSize },
    { signal: term.interrupted },
  )) {
    if (json) await printJsonLine(term, memory);
    else if (rows.push(memory) === pageSize) rows = await printRows(term, columns, rows);
  }
  await printRows(term, columns, rows);
}

async function printRows(
  term: Terminal,
  columns: Column<Memory>[],
  rows: Memory[],
): Promise<Memory[]> {
  await printTable(term, columns, rows);
  return [];
}

function columnsAt(term: Terminal): Column<Memory>[] {
  const now = term.now();
  return [
    { title: 'ID', value: ({ id }) => id },
    {
      title: 'TYPE',
      value: ({ type }) => type,
      hiddenWhen: ({ type }) => type === 'memory',
      dropped: 2,
    },
    {
      title: 'STATUS',
      value: ({ status }) => status,
      hiddenWhen: ({ status }) => status === 'complete',
      dropped: 3,
    },
    {
      title: 'AGE',
      value: ({ createdAt }) => createdAt,
      shown: ({ createdAt }) => age(createdAt, now),
      dropped: 1,
    },
    { title: 'CONTENT', value: ({ content }) => content, shown: withTitle, cut: true },
  ];
}

/** Documents of one kind often begin alike; what they are called tells them apart. */
function withTitle({ type, content, metadata, externalId }: Memory): string {
  const title = typeof metadata.title === 'string' ? metadata.title : externalId;
  const isTold = type !== 'document' || !title || content.startsWith(title);
  return isTold ? content : `${title}: ${content}`;
}
