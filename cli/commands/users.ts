import type { User } from '../../sdk/index.ts';
import { connect } from '../client/connect.ts';
import { addExamples } from '../command-metadata.ts';
import type { Parent } from '../commander.ts';
import { definedOnly, parseLimit } from '../options.ts';
import { type Column, printJson, printJsonLine, printTable } from '../terminal/output.ts';
import { note, type Terminal } from '../terminal/terminal.ts';
import { age } from '../terminal/text.ts';

export function addUsers(program: Parent, term: Terminal): void {
  const command = program
    .command('users')
    .description('List the users that have memories, by their ids.')
    .option('-n, --limit <number>', 'users a page, up to 100 (default: 20)', parseLimit)
    .option('--cursor <cursor>', 'go on from there: the nextCursor of the page before')
    .option('--all', 'every page')
    .addHelpText(
      'after',
      '\n--json prints the page as one object, { items, nextCursor }; --all --json prints' +
        '\nthe users alone, one object on each line.' +
        '\n\nIn a pipe: userId, memories and lastCreatedAt, tab-separated.',
    );
  command.action(async () => {
    const options = command.optsWithGlobals();
    const { limit, cursor, all, json } = options;
    const client = await connect(term, options);
    const pages = client.users(definedOnly({ limit: limit ?? (all ? 100 : undefined), cursor }), {
      signal: term.interrupted,
    });
    const columns = columnsAt(term);
    if (all && json) {
      for await (const user of pages) await printJsonLine(term, user);
      return;
    }
    if (all) return printTable(term, columns, await Array.fromAsync(pages));
    const page = await pages;
    if (json) return printJson(term, page);
    await printTable(term, columns, page.items);
    if (page.items.length === 0) await note(term, 'No users have memories.');
    if (page.nextCursor !== null) {
      await note(term, `There are more: add --all, or --cursor ${page.nextCursor}`);
    }
  });
  addExamples(command, ['memory users', 'memory users --all | cut -f 1']);
}

function columnsAt(term: Terminal): Column<User>[] {
  const now = term.now();
  return [
    { title: 'USER', value: ({ userId }) => userId },
    { title: 'MEMORIES', value: ({ memories }) => `${memories}` },
    {
      title: 'NEWEST',
      value: ({ lastCreatedAt }) => lastCreatedAt,
      shown: ({ lastCreatedAt }) => age(lastCreatedAt, now),
    },
  ];
}
