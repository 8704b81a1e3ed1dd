import { describe, expect, test } from 'bun:test';
import type { AnyCommand } from '../../cli/commander.ts';
import { timeoutOption } from '../../cli/options.ts';
import { createProgram } from '../../cli/program.ts';
import { memory, testTerminal } from './command.ts';

type Option = Record<string, unknown> & { name: string; description: string };
type Help = {
  path: string;
  usage: string;
  arguments: Record<string, unknown>[];
  options: Option[];
  notes: string;
  examples: string[];
};

async function reference(...argv: string[]) {
  const { code, stdout, stderr } = await memory(argv);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

const whole = reference('help', '--json');
const commands: Promise<Help[]> = whole.then(({ commands }) => commands);

async function helpOf(path: string): Promise<Help> {
  const found = (await commands).find((one) => one.path === path);
  if (found === undefined) throw new Error(`no ${path}`);
  return found;
}

async function option(path: string, name: string) {
  return (await helpOf(path)).options.find((one) => one.name === name);
}

function leaves(command: AnyCommand, path: string[] = []): string[] {
  const below = command.commands.flatMap((one) => leaves(one, [...path, one.name()]));
  return below.length > 0 ? below : [path.join(' ')];
}

describe('memory help --json', () => {
  test('has every command, and every option with its default', async () => {
    const program = await createProgram(testTerminal({ code: 0, stdout: '', stderr: '' }));
    const all = [...leaves(program), 'mcp'];
    expect((await commands).map(({ path }) => path).sort()).toEqual(all.sort());
    for (const { path, options } of await commands) {
      const { stdout } = await memory([...path.split(' '), '--help']);
      const [own = ''] = stdout.split('Global Options:');
      const named = [...own.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, name = '']) => name);
      expect([path, options.map(({ name }) => name)]).toEqual([path, named]);
      for (const option of options) expect(Object.keys(option)).toContain('default');
    }
  });

  test('describes the program, its exit codes and its environment', async () => {
    const { version } = await Bun.file('package.json').json();
    const { name, exitCodes, environment, options } = await whole;
    expect({ name, version: (await whole).version }).toEqual({ name: 'memory', version });
    expect(exitCodes.map(({ code }: { code: number }) => code)).toEqual([0, 1, 2, 3, 4, 5, 8, 130]);
    expect(options.map((one: Option) => one.name)).toContain('--json');
    const names: string[] = environment.map((one: Option) => one.name);
    const defaultOf = (name: string) =>
      environment.find((one: Option) => one.name === name)?.default;
    expect(defaultOf('MEMORY_BASE_URL')).toBe('http://127.0.0.1:7070');
    expect(defaultOf('MEMORY_RATE_LIMIT')).toBe('6000/60');
    expect([defaultOf('MEMORY_API_KEY'), defaultOf('NO_COLOR')]).toEqual([null, null]);
    const settings = await Bun.file('server/config.ts').text();
    for (const [, name = ''] of settings.matchAll(/\bread\(\s*'(\w+)'/g))
      expect(names).toContain(name);
    expect(names).toContain('MEMORY_BASE_URL');
  });

  test('describes the value of an option', async () => {
    expect(await option('list', '--order')).toMatchObject({
      takesValue: true,
      choices: ['desc', 'asc'],
      required: false,
      repeatable: false,
    });
    expect(await option('list', '--user')).toMatchObject({ short: '-u', required: true });
    expect(await option('delete', '--user')).toMatchObject({ required: false });
    expect(await option('list', '--limit')).toMatchObject({ default: '20' });
    expect(await option('wait', '--timeout')).toMatchObject({ default: '60s', value: 'time' });
    expect(timeoutOption.parseArg?.('60s', 0)).toBe(timeoutOption.defaultValue);
    expect(await option('list', '--all')).toMatchObject({ takesValue: false, value: null });
    expect(await option('serve', '--port')).toMatchObject({
      description: 'the port to listen on',
      env: 'PORT',
      default: '7070',
    });
  });

  test('the description of an option says whether it is repeatable', async () => {
    const options = (await commands).flatMap((one) => one.options);
    const documented = options.filter(({ description }) => description.includes('may be repeated'));
    expect(options.filter(({ repeatable }) => repeatable)).toEqual(documented);
    expect(documented.map(({ name }) => name)).toContain('--comment');
  });

  test('describes an argument, with notes and examples', async () => {
    expect((await helpOf('wait')).arguments).toEqual([
      {
        name: 'id',
        description: 'the ids of the memories',
        required: true,
        variadic: true,
        choices: null,
      },
    ]);
    const support = await helpOf('ingest support');
    expect(support.notes).toContain('Record: { userId,');
    expect(support.notes).not.toContain('Example');
    expect(support.examples).toContain('memory ingest support ticket.json --wait');
    expect(support.usage).toBe('memory ingest support [options] [file]');
  });

  test.each([
    ['health', 'Example:'],
    ['list', 'Examples:'],
  ])('the help of %s has the heading %s', async (name, heading) => {
    expect((await memory([name, '--help'])).stdout).toContain(`\n${heading}\n  `);
  });

  test('has examples for every command', async () => {
    const bare = (await commands).filter(({ examples }) => examples.length === 0);
    expect(bare.map(({ path }) => path)).toEqual([]);
  });

  test('prints one command or group, in every form of the request', async () => {
    const one = await reference('help', 'ingest', 'batch', '--json');
    expect(one.commands).toEqual([await helpOf('ingest batch')]);
    expect(await reference('ingest', 'batch', '--help', '--json')).toEqual(one);
    expect(await reference('--json', 'ingest', 'batch', '-h')).toEqual(one);
    expect(await reference('--help', '--json')).toEqual(await whole);
    const group = await reference('keys', '--help', '--json');
    expect(group.commands.map(({ path }: Help) => path)).toEqual([
      'keys create',
      'keys list',
      'keys revoke',
    ]);
  });

  test('a missing command with --json is reported as JSON, exit 2', async () => {
    for (const argv of [['--json'], ['ingest', '--json']]) {
      const { code, stdout, stderr } = await memory(argv);
      expect(JSON.parse(stdout).error).toMatchObject({ code: 'usage' });
      expect({ code, stderr }).toEqual({ code: 2, stderr: '' });
    }
  });
});

test('the help of serve aligns the descriptions of the settings', async () => {
  const { stdout } = await memory(['serve', '--help']);
  const [, settings = ''] = stdout.split('Set by environment variables only:\n');
  const rows = [...settings.matchAll(/^ {2}[A-Z_]+ +/gm)];
  expect(rows.length).toBeGreaterThan(3);
  expect(new Set(rows.map(([row]) => row.length)).size).toBe(1);
});

test('memory help shows what --help shows', async () => {
  expect(await memory(['help'])).toEqual(await memory(['--help']));
  const batch = await memory(['help', 'ingest', 'batch']);
  expect(batch).toEqual(await memory(['ingest', 'batch', '--help']));
  const keys = await memory(['keys', 'help']);
  expect(keys).toEqual(await memory(['keys', '--help']));
  expect(await memory(['keys', 'help', 'create'])).toEqual(await memory(['keys', 'create', '-h']));
});
