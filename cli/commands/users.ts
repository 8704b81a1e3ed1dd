import type { User } from '../../sdk/index.ts';
import { connect } from '../client/connect.ts';
import { addExamples } from '../command-metadata.ts';
import type { Parent } from '../commander.ts';
import { definedOnly, parseLimit } from '../options.ts';
import { pageSize, printPages } from '../pages.ts';
import type { Column } from '../terminal/output.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { age } from '../terminal/text.ts';

export function addUsers(program: Parent, term: Terminal): void {
  const command = program
    .command('users')
    .description('List the users that have memories, ordered by id.')
    .option('-n, --limit <number>', 'users per page, at most 100 (default: 20)', parseLimit)
    .option('--cursor <cursor>', 'the nextCursor of the previous page')
    .option('--all', 'print all pages')
    .addHelpText('after', help);
  command.action(async () => {
    const options = command.optsWithGlobals();
    const client = await connect(term, options);
    const query = definedOnly({ limit: pageSize(options), cursor: options.cursor });
    const pages = client.users(query, { signal: term.interrupted });
    await printPages(term, options, pages, columnsAt(term.now()), 'No users have memories.');
  });
  addExamples(command, ['memory users', 'memory users --all | cut -f 1']);
}

const help = `
--json prints the page as one object, { items, nextCursor }; --all --json prints
only the users, one object per line.

A pipe receives userId, memories and lastCreatedAt, separated by tabs.`;

const columnsAt = (now: number): Column<User>[] => [
  { title: 'USER', value: ({ userId }) => userId },
  { title: 'MEMORIES', value: ({ memories }) => `${memories}` },
  { title: 'NEWEST', value: (user) => user.lastCreatedAt, shown: (time) => age(time, now) },
];
