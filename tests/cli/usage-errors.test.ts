import { expect, test } from 'bun:test';
import { type AnyCommand, examplesBelow, helpFor } from '../../cli/commander.ts';
import { createProgram } from '../../cli/program.ts';
import { memory, testTerminal } from './command.ts';
import { wordsOf } from './transcript.ts';

/*
 * Mistakes in a command line: exit 2, the reason, and a hint. Nothing is sent. Others are in
 * transcripts/mistakes.txt, and help.txt shows which arguments are required.
 */

const program = await createProgram(testTerminal());

async function expectUsageError(line: string, message: string): Promise<void> {
  const words = wordsOf(line);
  let command: AnyCommand = program;
  for (const word of words)
    command = command.commands.find((one) => one.name() === word) ?? command;
  const [example] = command.commands.length === 0 ? examplesBelow(command) : [];
  const hint = example === undefined ? '' : `For example: ${example}\n`;
  const env = { MEMORY_BASE_URL: 'http://127.0.0.1:1', MEMORY_API_KEY: 'a-key-for-tests-1234' };
  const stderr = `Error: ${message}\n${hint}${helpFor(command)}\n`;
  expect(await memory(words, { env })).toEqual({ code: 2, stdout: '', stderr });
}

test.each([
  ['add x', 'add', 'save'],
  ['rm mem_1', 'rm', 'delete'],
  ['exprot', 'exprot', 'export'],
  ['ingest ticket t.json', 'ticket', 'support'],
  ['ingest notes.md', 'notes.md', 'document'],
  ['ingest a.jsonl', 'a.jsonl', 'batch'],
  ['keys delete key_1', 'delete', 'revoke'],
])('memory %s is an unknown command', (line, given, meant) =>
  expectUsageError(line, `Unknown command '${given}' (Did you mean ${meant}?)`),
);

const pointInTime = 'Use a date or time such as 2026-05-08 or 2026-05-08T13:56:07Z, or 3d (ago).';
const expiry = 'Use a duration such as 90d, 12h or 30m, or a future date such as 2096-12-01.';
const visible = 'It must be 1 to 200 visible ASCII characters.';
const once = 'It can be given only once, and must not be empty.';
const metadata = '-m, --metadata <key=value>';
const jsonValue = `The value after := must be JSON, as in count:=3 or tags:='["a"]'.`;
const inRange = 'It must not contain a number that a double cannot hold; use a string.';
const notNone = 'none cannot be combined with key=value.';
const version = 'It must be a version number as shown by memory get, 1 or higher.';
const duration = 'Use a duration such as 90s, 5m, 12h or 30d.';
const seconds = 'It must be a number of seconds from 1 to 3600.';
const limit = 'It must be a number from 1 to 100.';
const types = 'memory, ticket, document, conversation, event, profile';
const invalidExpiries = ['90', '3600', '2020-01-01', 'Dec 1 2099', 'soon', '9999999d', '8765432d'];
const moreExpiries = ['2096-13', '2096-02-30', '2096-05-08T10:00:00', '2096-05-08 10:00:00Z'];
const invalidTimes = ['yesterday', '2026-13', '2026-02-30', '2026-5-8', '9999999d', 'tomorrow'];
const moreTimes = [
  ...['2026-05-08T10:00:00', '2026-05-08T24:00:00Z', '2026-', '2026-0'],
  ...['2026-02-30T10:00:00Z', '0000-01-01T00:00:00+01:00'],
];

test.each([
  ['save text', metadata, jsonValue, ['x:=y']],
  ['save text', metadata, inRange, ['x:=1e400', 'x:=[9007199254740993]']],
  ['save text -m x=1', metadata, 'Each key can be given only once.', ['x=2']],
  ['save text', '--expires <time>', expiry, [...invalidExpiries, ...moreExpiries]],
  ['save text', '--occurred <time>', pointInTime, [...invalidTimes, ...moreTimes]],
  ['save text', '--idempotency-key <key>', visible, ['a b']],
  ['save text', '-u, --user <id>', once, ['']],
  ['save text --user ada', '-u, --user <id>', once, ['ben']],
  ['save text', '--source <name>', once, ['']],
  ['list', '-n, --limit <number>', limit, ['0', '5000', 'ten']],
  ['list', '--order <order>', 'Allowed choices are desc, asc.', ['up']],
  ['list', '--type <type>', `Allowed choices are ${types}.`, ['tickets']],
  ['list', '--from <time>', pointInTime, [...invalidTimes, ...moreTimes]],
  ['users', '--order <order>', 'Allowed choices are userId, memories, bytes.', ['size']],
  ['update mem_1 x', '--if-version <number>', version, ['0', '-1', 'x', '1.5']],
  ['update mem_1 -m b=2', metadata, notNone, ['none']],
  ['update mem_1 -m none', metadata, notNone, ['b=2']],
  ['wait mem_1', '--timeout <time>', duration, ['soon', '0s']],
  ['keys create', '--expires <time>', expiry, [...invalidExpiries, ...moreExpiries]],
  ['top', '--interval <seconds>', seconds, ['0', '3601', '1.5', 'x']],
  ['serve', '-p, --port <number>', 'It must be a port number, 0 to 65535.', ['99999']],
])('memory %s %s: %s', async (line, option, reason, values) => {
  const [, name] = /(--[\w-]+)/.exec(option) ?? [];
  for (const value of values) {
    const message = `Option '${option}' argument '${value}' is invalid. ${reason}`;
    await expectUsageError(`${line} ${name} '${value}'`, message);
  }
});

const eitherIdOrUser = 'Pass either an id, or --user to delete all memories of a user.';
const anId = `is invalid for argument 'id'. An id begins with mem_ or key_.`;
const shells = 'Allowed choices are bash, zsh, fish.';
const clients = 'claude-code, cursor, vscode, codex, claude-desktop';
const notAClient = `is invalid for argument 'client'. Allowed choices are ${clients}.`;
const singleFile = '--title, --source-url and --external-id need a single file.';
const notWithMetrics = `Option '--metrics' cannot be used with option`;
const notWithUser = `Option '-u, --user <id>' cannot be used with option '--if-version <number>'`;
const needsFrom = '--user requires --from: lines from an export already contain user ids.';
const invalid = 'Invalid settings:';
const databases = `${invalid} MEMORY_DATABASE_URL or --database`;
const urls =
  'must be sqlite:<path>, such as sqlite:./data/memory.db, or postgres://<user>@<host>/<database>, ' +
  'in which % is written %25';

test.each([
  ['list ada', `Too many arguments for 'list'. Expected 0 arguments but got 1.`],
  ['save', `Missing required argument 'text'`],
  ['save ""', 'The text must not be empty.'],
  ['save Prefers dark', `Too many arguments for 'save'. Expected 1 argument but got 2.`],
  ['search ""', 'The query must not be empty.'],
  ['get ""', `Command-argument value '' ${anId}`],
  ['get ..', `Command-argument value '..' ${anId}`],
  ['update mem_1', 'Nothing to update: pass <text>, --metadata, --occurred or --expires.'],
  ['delete', eitherIdOrUser],
  ['delete mem_1 --user ada', eitherIdOrUser],
  ['delete --user ada --if-version 1 --yes', notWithUser],
  ['ingest support --user ada', `Unknown option '--user'`],
  ...['ingest document', 'ingest support', 'ingest batch', 'import', 'backup', 'restore'].map(
    (name): [string, string] => [`${name} ""`, 'A file name must not be empty.'],
  ),
  ['ingest document a.md b.md --title Notes', singleFile],
  ['ingest document tests/cli/transcripts --external-id x', singleFile],
  ['import a.jsonl -u ada', needsFrom],
  ['keys create --metrics --save', `${notWithMetrics} '--save'`],
  ['keys create --metrics --read-only', `${notWithMetrics} '--read-only'`],
  ['keys create --metrics -u ada', `${notWithMetrics} '-u, --user <id>'`],
  ['mcp install zed --user ada', `Command-argument value 'zed' ${notAClient}`],
  ['completion tcsh', `Command-argument value 'tcsh' is invalid for argument 'shell'. ${shells}`],
  ['serve --database mysql://me:secret@x/y', `${databases} ${urls}`],
  ['serve --database postgres://me:10%secret@x/y', `${databases} ${urls}`],
  ['migrate --from a.db', `Required option '--to <path or url>' not specified`],
  ['migrate --from mysql://me:secret@x/y --to x.db', `${invalid} --from or --to ${urls}`],
])('memory %s is rejected', expectUsageError);
