import { describe, expect, test } from 'bun:test';
import { createProgram } from '../../cli/program.ts';
import { memory, testIo } from './command.ts';

describe('a command line that cannot be', () => {
  const wrong: Array<[string[], string]> = [
    [['sav'], 'Did you mean save?'],
    [['ingest', 'suport'], 'Did you mean support?'],
    [['save', '--usr', 'u', 'text'], 'Did you mean --user?'],
    [['save', 'text'], 'Missing --user <id>: whose memory it is.\nSuch as: memory save --user'],
    [['list'], 'Missing --user <id>'],
    [['list', '--user', ''], '--user is empty'],
    [['save', '--user', 'u'], "Missing required argument 'text'\nSuch as: memory save"],
    [['save', '--user', 'u', 'two', 'words'], 'Put a text of several words in quotes.'],
    [['save', '--user', 'u', '- a point'], 'Put -- before a text that begins with a dash.'],
    [['save', '--user', 'u', '-m', 'x', 'text'], 'Write it as key=value, or key:=json.'],
    [['save', '--user', 'u', '-m', 'x:=y', 'text'], 'After := comes JSON'],
    [['list', '--user', 'u', '--limit', 'ten'], 'It must be a whole number.'],
    [['list', '--user', 'u', '--order', 'up'], 'Allowed choices are desc, asc.'],
    [['wait', 'mem_1', '--timeout', 'soon'], 'Write it as 90s, 5m, 12h or 30d.'],
    [['get', 'mem_1', '--base-url', 'example.com'], '--base-url is not an http address'],
    [['ingest', 'support'], 'Give a file, or --user, --subject and --comment.'],
    [
      ['ingest', 'support', 'a.json', '--subject', 's', '--external-id', '1'],
      'leave out --subject, --external-id',
    ],
    [['ingest', 'batch', 'a.jsonl', '--errors-out', 'a.jsonl'], 'would overwrite'],
    [['import', 'a.jsonl', '--errors-out', 'a.jsonl'], 'would overwrite'],
    [['import'], 'Such as: memory import'],
    [['export', '--user', ''], '--user is empty'],
    [['exprot'], 'Did you mean export?'],
    [['search', 'refund'], 'Missing --user <id>'],
    [['search', '--user', 'u'], 'Such as: memory search'],
    [['search', '--user', 'u', 'two', 'words'], 'Put a text of several words in quotes.'],
    [['search', '--user', 'u', ''], 'The query is empty'],
    [['serach', '--user', 'u', 'x'], 'Did you mean search?'],
    [['list', '--user', 'u', '--type', 'tickets'], 'Allowed choices are memory, ticket,'],
    [['list', '--user', 'u', '--typ', 'ticket'], 'Did you mean --type?'],
    [['list', '--user', 'u', '-m', 'k'], 'Write it as key=value, or key:=json.'],
    [['list', '--user', 'u', '-m', 'k=1', '-m', 'k=2'], 'A key has one value'],
    [['list', '--user', 'u', '-m', 'k:=[1]'], 'a text, a number, true or false'],
    [['list', '--user', 'u', '-m', 'k:=null'], 'a text, a number, true or false'],
    [['delete'], 'Missing <id>, or --user <id> for everything of a user.'],
    [['delete', '--user', ''], '--user is empty'],
    [['delete', 'mem_1', '--user', 'u', '--yes'], 'not both'],
    [['delete', '--user', 'u'], 'needs --yes where nobody can be asked'],
    [['keys', 'revoke'], 'Such as: memory keys revoke'],
  ];
  for (const [argv, told] of wrong) {
    test(`memory ${argv.join(' ')} → exit 2, told on stderr`, async () => {
      const { code, stdout, stderr } = await memory(argv, { env: { MEMORY_API_KEY: 'k' } });
      expect(stderr).toContain(told);
      expect(stderr).toStartWith('Error: ');
      expect(stdout).toBe('');
      expect(code).toBe(2);
    });
  }

  test('with --json is told as JSON on stdout, and nothing else', async () => {
    const { code, stdout, stderr } = await memory(['save', '--json', 'text']);
    expect(JSON.parse(stdout)).toEqual({
      error: {
        code: 'usage',
        message: 'Missing --user <id>: whose memory it is.',
        hint: expect.stringContaining('memory save --help'),
        requestId: null,
      },
    });
    expect(stderr).toBe('');
    expect(code).toBe(2);
  });

  test('no command at all shows the help on stderr', async () => {
    const { code, stdout, stderr } = await memory([]);
    expect(stderr).toStartWith('Usage: memory');
    expect(stdout).toBe('');
    expect(code).toBe(2);
  });
});

describe('without what a call needs', () => {
  test('no key: says how to get one, exit 4', async () => {
    const { code, stderr } = await memory(['get', 'mem_1']);
    expect(stderr).toContain('No API key for http://127.0.0.1:7070');
    expect(stderr).toContain('memory keys create');
    expect(code).toBe(4);
  });

  test('no server: says so and what to try, exit 5', async () => {
    // Nothing listens on port 1.
    const env = { MEMORY_API_KEY: 'a-key-of-16-chars', MEMORY_BASE_URL: 'http://127.0.0.1:1' };
    const { code, stdout, stderr } = await memory(['get', 'mem_1'], { env });
    expect(stderr).toBe(
      'Error: Cannot reach http://127.0.0.1:1 (connection refused).\n' +
        'Is the server running? Try: memory serve\n',
    );
    expect(stdout).toBe('');
    expect(code).toBe(5);
  });
});

test('in a clone, what to run next is written with npx', async () => {
  const env = { npm_command: 'exec' };
  const { stderr } = await memory(['get', 'mem_1'], { env });
  expect(stderr).toContain(': npx memory keys create\n');
});

describe('help', () => {
  const program = createProgram(testIo({ code: 0, stdout: '', stderr: '' }));
  const leaves = program.commands.flatMap((command) =>
    command.commands.length > 0
      ? command.commands.map((inner) => [command.name(), inner.name()])
      : [[command.name()]],
  );
  for (const words of leaves) {
    test(`memory ${words.join(' ')} --help: on stdout, with examples, within 80 columns`, async () => {
      const { code, stdout, stderr } = await memory([...words, '--help']);
      expect(stdout).toStartWith(`Usage: memory ${words.join(' ')}`);
      expect(stdout).toMatch(/\nExamples?:\n {2}/);
      const [text = ''] = stdout.split(/\nExamples?:\n/);
      expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
      expect(stderr).toBe('');
      expect(code).toBe(0);
    });
  }

  test('names the environment', async () => {
    const { stdout } = await memory(['--help']);
    expect(stdout).toContain('MEMORY_BASE_URL');
    expect(stdout).toContain('MEMORY_API_KEY');
  });

  test('--version prints the version alone', async () => {
    const { version } = await Bun.file('package.json').json();
    expect(await memory(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });
});
