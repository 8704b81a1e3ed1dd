import type { Task, User } from '../../sdk/index.ts';
import { connect } from '../client/connect.ts';
import { filesOf } from '../client/load.ts';
import { readMetrics } from '../client/metrics.ts';
import { addHelp, Option, type Parent } from '../commander.ts';
import { type Column, printFields, printJson } from '../terminal/output.ts';
import { note, type Terminal } from '../terminal/terminal.ts';
import { age, cut, shownBytes } from '../terminal/text.ts';
import { addPaging, pageQuery, printPages } from './list.ts';

export function addUsers(program: Parent, term: Terminal): void {
  const users = program
    .command('users')
    .description('List the users who have memories, ordered by id or by size.')
    .addOption(
      new Option('--order <order>', 'userId (the default), or the largest users first').choices([
        'userId',
        'memories',
        'bytes',
      ] as const),
    );
  const command = addPaging(users, 'users');
  command.action(async (options) => {
    const client = await connect(term);
    const pages = client.users(pageQuery(options), { signal: term.interrupted });
    await printPages(term, options, pages, userColumns(term.now()), 'No users have memories.');
  });
  addHelp(command, usersHelp, [
    'memory users',
    'memory users --order bytes --limit 5',
    'memory users --all | cut -f 1',
  ]);
}

const usersHelp = `
--order memories and --order bytes print one page of at most 100 users. The
size is that of content and metadata.

A pipe receives userId, memories, bytes and lastCreatedAt, separated by tabs.`;

/** A longer id is cut on a terminal, so that a row fits into 80 columns. */
const userWidth = 40;

const userColumns = (now: number): Column<User>[] => [
  { title: 'USER', value: ({ userId }) => userId, shown: (userId) => cut(userId, userWidth) },
  { title: 'MEMORIES', value: ({ memories }) => `${memories}` },
  { title: 'SIZE', value: ({ bytes }) => `${bytes}`, shown: (bytes) => shownBytes(Number(bytes)) },
  { title: 'NEWEST', value: (user) => user.lastCreatedAt, shown: (time) => age(time, now) },
];

export function addTasks(program: Parent, term: Terminal): void {
  const tasks = program
    .command('tasks')
    .description('List the memories that are being processed or have failed, newest first.')
    .addOption(
      new Option('--status <status>', 'which memories')
        .choices(['processing', 'failed'] as const)
        .default('processing' as const),
    );
  const command = addPaging(tasks, 'memories');
  command.action(async (options) => {
    const client = await connect(term);
    const { status } = options;
    const pages = client.tasks(pageQuery(options), { signal: term.interrupted });
    await printPages(term, options, pages, taskColumns(term.now()), noTasks[status]);
    if (term.options.json || status === 'failed' || (await pages).items.length > 0) return;
    await note(term, 'For the memories that have failed: memory tasks --status failed');
  });
  addHelp(command, tasksHelp, [
    'memory tasks',
    'memory tasks --status failed',
    'memory tasks --all --json',
  ]);
}

const noTasks = {
  processing: 'No memories are being processed.',
  failed: 'No memories have failed.',
};

const tasksHelp = `
To process a failed memory again, ingest its record again.

A pipe receives the id, userId, type, attempts, createdAt, errorMessage and full
content, separated by tabs.`;

const taskColumns = (now: number): Column<Task>[] => [
  { title: 'ID', value: ({ id }) => id },
  { title: 'USER', value: ({ userId }) => userId },
  { title: 'TYPE', value: ({ type }) => type, dropped: 2 },
  { title: 'ATTEMPTS', value: ({ attempts }) => `${attempts}`, dropped: 3 },
  { title: 'AGE', value: (one) => one.createdAt, shown: (time) => age(time, now), dropped: 1 },
  { title: 'ERROR', value: ({ errorMessage }) => errorMessage ?? '', usual: '' },
  { title: 'CONTENT', value: ({ content }) => content, cut: true },
];

export function addStats(program: Parent, term: Terminal): void {
  const command = program
    .command('stats')
    .description("Show what the key's project holds: users, memories, their size and status.");
  command.action(async () => {
    const client = await connect(term);
    const signal = term.interrupted;
    const [stats, files] = await Promise.all([
      client.stats({ signal }),
      // The key may not be allowed to read the metrics, or there are none.
      readMetrics(term).then(filesOf, () => null),
    ]);
    if (term.options.json) return printJson(term, { ...stats, ...files });
    const { project, userId: user } = await client.key({ signal });
    await printFields(term, { project, user, ...stats, ...files });
    if (stats.failed > 0) await note(term, 'To see what failed: memory tasks --status failed');
  });
  addHelp(command, statsHelp, ['memory stats', 'memory stats --json']);
}

const statsHelp = `
A key that is bound to a user shows that user's figures. They may be a minute
old. The size is that of content and metadata. On the service's machine, the
size of its files and the time of the last backup are shown as well.

A pipe receives each name and its value, separated by a tab.`;
