import { describe, expect, test } from 'bun:test';
import { type AnyCommand, examplesBelow, pathBelowRoot } from '../../cli/commander.ts';
import { createProgram } from '../../cli/program.ts';
import { settingNames } from '../../server/config.ts';
import { memory, testTerminal } from './command.ts';

/* transcripts/help.txt shows the help of every command. */

const program = await createProgram(testTerminal());
const below = (command: AnyCommand): AnyCommand[] => [command, ...command.commands.flatMap(below)];
const paths = below(program)
  .map(pathBelowRoot)
  .filter((path) => !/ help$/.test(path));
const shown = await Bun.file(`${import.meta.dir}/transcripts/help.txt`).text();
const inClone = {
  env: { npm_command: 'exec' },
  program: ['/bin/bun', '/clone/cli/main.ts'],
};

const globalOptions = (help: string) =>
  /-V, --version.*?from the profile/s.exec(help)?.[0].replace(/\s+/g, ' ') ?? 'none';

test.each(paths)('the help of "%s" is in the transcript, and fits 80 columns', async (path) => {
  expect(shown).toContain(`\n$ memory ${path === '' ? '' : `${path} `}--help\n`);
  const argv = [...path.split(' ').filter(Boolean), '--help'];
  const { stdout } = await memory(argv, { ...inClone, terminal: 80 });
  const [text = ''] = stdout.split(/\nExamples?:\n/);
  expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
  if (path !== '') expect(text).toMatch(/\n {2}-h, --help +show help\n\nGlobal Options:\n/);
  expect(globalOptions(text)).toBe(globalOptions((await memory(['--help'])).stdout));
});

test.each(['', 'ingest', 'keys', 'profile'])(
  '"memory %s" alone prints its help to stderr',
  async (path) => {
    const argv = path.split(' ').filter(Boolean);
    const { stdout: stderr } = await memory([...argv, '--help']);
    expect(await memory(argv)).toEqual({ code: 2, stdout: '', stderr });
    const asJson = await memory([...argv, '--json']);
    expect(asJson).toMatchObject({ code: 2, stderr });
    const hint = `See: ${`memory ${path}`.trim()} --help`;
    const error = { code: 'usage', message: 'Missing command.', hint, requestId: null };
    expect(JSON.parse(asJson.stdout)).toEqual({ error });
  },
);

test('every command without subcommands has examples', () => {
  const leaves = below(program).filter(({ commands }) => commands.length === 0);
  const bare = leaves.filter((one) => one.name() !== 'help' && examplesBelow(one).length === 0);
  expect(bare.map(pathBelowRoot)).toEqual([]);
});

test('the help of serve names every setting that the server reads', async () => {
  const { stdout } = await memory(['serve', '--help']);
  for (const name of settingNames) expect(stdout).toContain(name);
});

test('the help of one command is the same whether other commands are loaded or not', async () => {
  expect((await memory(['help', 'list'])).stdout).toBe((await memory(['list', '--help'])).stdout);
  expect(await memory(['keys', 'help', 'create'])).toEqual(await memory(['keys', 'create', '-h']));
  expect(await memory(['help', 'help'])).toEqual(await memory(['--help']));
});

test.each(['-h', '--help', '--project list --help'])(
  '%s before a command shows all',
  async (options) => {
    const all = await memory(['--help']);
    expect(all.stdout).toContain('\n  keys ');
    expect(await memory([...options.split(' '), 'list'])).toEqual(all);
  },
);

test('--version prints only the version', async () => {
  const { version } = await Bun.file('package.json').json();
  expect(await memory(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});

describe.each([
  ['npx memory', inClone.program],
  ['npx memory-service', ['/bin/bun', '/packed/cli/main.js']],
])('if npm started the program, the output shows commands with %s', (name, started) => {
  const around = { env: { npm_command: 'exec' }, program: started };

  test('in hints, as text and as JSON', async () => {
    const { stderr } = await memory(['get', 'mem_1'], around);
    expect(stderr).toContain(`: ${name} keys create --save\n`);
    const { stdout } = await memory(['get', 'mem_1', '--json'], around);
    expect(JSON.parse(stdout).error.hint).toContain(`: ${name} keys create`);
  });

  test('in the help and its examples', async () => {
    for (const argv of [['--help'], ['save', '--help'], ['ingest', 'batch', '--help']]) {
      const { stdout } = await memory(argv, around);
      expect(stdout).toStartWith(`Usage: ${name} `);
      expect(stdout).not.toMatch(/(?<!npx )\bmemory (save|ingest|--)/);
      expect(stdout).not.toContain('npx npx');
    }
  });
});
