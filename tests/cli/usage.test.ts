import { describe, expect, test } from 'bun:test';
import { pathBelowRoot, runnableCommands } from '../../cli/commander.ts';
import { createProgram } from '../../cli/program.ts';
import { startTestServer } from '../support/server.ts';
import { memory, memoryAt, testTerminal } from './command.ts';

const wrong: Array<[string[], string]> = [
  [['sav'], 'Did you mean save?'],
  [['ingest', 'suport'], 'Did you mean support?'],
  [['save', '--usr', 'u', 'text'], 'Did you mean --user?'],
  [['list', '--user', ''], '--user must not be empty'],
  [['save', '--user', 'u'], "Missing required argument 'text'\nFor example: memory save"],
  [['save', '--user', 'u', 'two', 'words'], 'Put text that contains spaces in quotes.'],
  [['save', '--user', 'u', '- a point'], 'Put -- before text that begins with a dash.'],
  [['save', '--user', 'u', '-m', 'x', 'text'], 'Use key=value or key:=json.'],
  [['save', '--user', 'u', '-m', 'x:=y', 'text'], 'The value after := must be JSON'],
  [['list', '--user', 'u', '--limit', 'ten'], 'It must be a number from 1 to 100.'],
  [['list', '--user', 'u', '--order', 'up'], 'Allowed choices are desc, asc.'],
  [['wait', 'mem_1', '--timeout', 'soon'], 'Use a duration such as 90s, 5m, 12h or 30d.'],
  [['wait', 'mem_1', '--timeout', '0s'], 'Use a duration such as 90s, 5m, 12h or 30d.'],
  [['get', 'mem_1', '--base-url', 'example.com'], '--base-url is not an http or https URL'],
  [
    ['get', 'mem_1', '--base-url', 'http://x/v1/'],
    '--base-url must not contain /v1: http://x/v1/\nRemove /v1 from the base URL: http://x\n',
  ],
  [['profile', 'set', 'http://x/a/v1', '-'], '<base-url> must not contain /v1: http://x/a/v1\n'],
  [['ingest', 'support', '--user', 'u'], 'Pass a file, or --subject.'],
  [['ingest', 'chat', '--user', 'u'], 'Pass a file, or --message.'],
  [
    ['ingest', 'support', 'a.json', '--subject', 's', '--external-id', '1'],
    'omit --subject, --external-id',
  ],
  [['import'], 'For example: memory import'],
  [['export', '--user', ''], '--user must not be empty'],
  [['exprot'], 'Did you mean export?'],
  [['search', '--user', 'u'], 'For example: memory search'],
  [['search', '--user', 'u', 'two', 'words'], 'Put text that contains spaces in quotes.'],
  [['search', '--user', 'u', ''], 'The query must not be empty'],
  [['serach', '--user', 'u', 'x'], 'Did you mean search?'],
  [['list', '--user', 'u', '--type', 'tickets'], 'Allowed choices are memory, ticket,'],
  [['list', '--user', 'u', '--typ', 'ticket'], 'Did you mean --type?'],
  [['list', '--user', 'u', '-m', 'k'], 'Use key=value or key:=json.'],
  [['list', '--user', 'u', '-m', 'k=1', '-m', 'k=2'], 'Each key can be given only once'],
  [['list', '--user', 'u', '-m', 'k:=[1]'], 'must be a string, number or boolean'],
  [['list', '--user', 'u', '-m', 'k:=null'], 'must be a string, number or boolean'],
  [['delete'], 'Missing <id>. To delete all memories of a user, use --user <id>.'],
  [['delete', '--user', ''], '--user must not be empty'],
  [['delete', 'mem_1', '--user', 'u', '--yes'], 'Pass either an id, or --user'],
  [['delete', '--user', 'u'], 'requires --yes if stdin is not a terminal'],
  [['delete', '--user', 'a b'], "For example: memory delete --user 'a b' --yes"],
  [['ingest', 'ticket', 't.json'], 'Did you mean support?'],
  [['ingest', 'tickets', 't.json'], 'Did you mean support?'],
  [['ingest', 'docs/'], 'Did you mean document?'],
  [['ingest', 'a.jsonl'], 'Did you mean batch?'],
  [['keys', 'delete', 'key_1'], 'Did you mean revoke?'],
  [['list', '--user', 'u', '--page', '2'], 'Did you mean --cursor?'],
  [['list', '--user', 'u', '--format=json'], 'Did you mean --json?'],
  [['get', 'mem_1', '--page', '2'], "Error: Unknown option '--page'\nSee: "],
  [['serve', '--db', 'x.db'], 'Did you mean --database?'],
  [['list', '--user', 'u', '-n', '5000'], 'Use --all to get every page.'],
  [['keys', 'revoke'], 'For example: memory keys revoke'],
  [['save', '--user', 'u', '-m', 'k=1', '-m', 'k=2', 'x'], 'Each key can be given only once'],
  [['list', '--user', 'u', '-n', '0'], 'It must be a number from 1 to 100.'],
  [['search', '--user', 'u', '-n', '101', 'x'], 'It must be a number from 1 to 100.'],
  [['list', '--user', 'u', '--source', ''], 'It must be 1 to 256 characters, not 0.'],
  [['ingest', 'document', '--user', 'u', '--external-id', '', 'a.md'], 'not 0.'],
  [['search', '--user', 'u', '--external-id', 'é'.repeat(257), 'x'], 'not 257.'],
  [['list', '--user', 'x'.repeat(300)], '--user must be at most 256 characters, not 300'],
  [['delete', '--user', 'x'.repeat(300), '--yes'], 'at most 256 characters'],
  [
    ['ingest', 'chat', '--user', 'x'.repeat(300), '--message', 'user: Hi'],
    'at most 256 characters',
  ],
  [['list', 'ada'], 'Did you mean: memory list --user ada\n'],
  [['list', 'ada l'], "Did you mean: memory list --user 'ada l'\n"],
  [['add', 'x'], 'Did you mean save?'],
  [['create', 'x'], 'Did you mean save?'],
  [['new', 'x'], 'Did you mean save?'],
  [['find', 'x'], 'Did you mean search?'],
  [['rm', 'x'], 'Did you mean delete?'],
  [['remove', 'x'], 'Did you mean delete?'],
  [['show', 'x'], 'Did you mean get?'],
  [['ls'], 'Did you mean list?'],
  [['edit', 'x'], 'Did you mean update?'],
  [['get', ''], "value '' is invalid for argument 'id'. An id begins with mem_ or key_."],
  [['get', '.'], 'An id begins with'],
  [['get', '..'], 'An id begins with'],
  [['get', ' '], 'An id begins with'],
  [['delete', ''], 'An id begins with'],
  [['delete', '..'], 'An id begins with'],
  [['update', '..', 'x'], 'An id begins with'],
  [['status', '.'], 'An id begins with'],
  [['wait', 'mem_1', ''], 'An id begins with'],
  [['keys', 'revoke', ''], 'An id begins with'],
  [['save', '--user', 'u', '--idempotency-key', '', 'x'], 'must be 1 to 255 visible ASCII'],
  [['save', '--user', 'u', '--idempotency-key', 'a b', 'x'], 'must be 1 to 255 visible ASCII'],
  [['delete', 'mem_1', '--idempotency-key', 'é'], 'must be 1 to 255 visible ASCII'],
  [['update', 'mem_1', 'x', '--idempotency-key', 'k'.repeat(256)], 'must be 1 to 255'],
  [['ingest', 'batch', 'a.jsonl', '--idempotency-key', 'k'.repeat(201)], 'must be 1 to 200'],
  [['import', 'a.jsonl', '--idempotency-key', 'k'.repeat(201)], 'must be 1 to 200'],
  [['ingest', 'batch', 'a.jsonl', '--timeout', '5m'], '--timeout requires --wait'],
  [
    ['ingest', 'document', 'a.md', '--user', 'u', '--timeout', '60s'],
    'add --wait, or omit --timeout',
  ],
  [
    ['ingest', 'chat', '--user', 'u', '--message', 'user: Hi', '--timeout', '5'],
    '--timeout requires --wait',
  ],
  [['completion'], 'Missing <shell>: choose one of bash, zsh, fish, powershell.'],
  [['completion', 'tcsh'], 'Allowed choices are bash, zsh, fish, powershell.'],
  [['help', 'sav'], 'Unknown command: sav.'],
  [['help', 'ingest', 'suport'], 'Available commands: support, document, chat, record, batch'],
  [['profile', 'set', 'memory.example'], '<base-url> is not an http or https URL'],
  [['profile', 'set', 'http://x', 'mk_secret'], 'A key cannot be passed as an argument: pass - '],
  [['profile', 'set', 'http://x', '-'], 'Missing key: set MEMORY_API_KEY'],
  [['serve', '--port', '99999'], 'It must be a port number, 0 to 65535.'],
  [['serve', '--database', 'postgres://me:secret@x'], '--database must be sqlite:<path>'],
  [['serve', '--database', 'mysql://me:secret@x/y'], '--database must be sqlite:<path>'],
  [['keys', 'list', '--database', 'mysql://me:secret@x/y'], '--database must be sqlite:<path>'],
  [['migrate', '--from', 'mysql://me:secret@x/y', '--to', 'x.db'], '--from or --to must be sqlite'],
];

describe('an invalid command line', () => {
  for (const [argv, message] of wrong) {
    test(`memory ${argv.join(' ').slice(0, 60)} → exit 2, reported on stderr`, async () => {
      const { code, stdout, stderr } = await memory(argv, { env: { MEMORY_API_KEY: 'k' } });
      expect(stderr).toContain(message);
      expect(stderr).toStartWith('Error: ');
      expect(stdout).toBe('');
      expect(code).toBe(2);
    });
  }

  test('with --json is reported only as JSON on stdout', async () => {
    const { code, stdout, stderr } = await memory(['save', '--user', '', '--json', 'text']);
    expect(JSON.parse(stdout)).toEqual({
      error: {
        code: 'usage',
        message: '--user must not be empty.',
        hint: expect.stringContaining('memory save --help'),
        requestId: null,
      },
    });
    expect(stderr).toBe('');
    expect(code).toBe(2);
  });

  test('without a command, prints the help on stderr', async () => {
    const { code, stdout, stderr } = await memory([]);
    expect(stderr).toStartWith('Usage: memory');
    expect(stdout).toBe('');
    expect(code).toBe(2);
  });
});

describe('without a key or a server', () => {
  test('a missing key is reported with a hint on how to get one, exit 4', async () => {
    const { code, stderr } = await memory(['get', 'mem_1']);
    expect(stderr).toContain('No API key for http://127.0.0.1:7070');
    expect(stderr).toContain('memory keys create');
    expect(code).toBe(4);
  });

  test('an empty --api-key is rejected, and no other key is used: exit 2', async () => {
    const env = { MEMORY_API_KEY: 'a-key-of-16-chars' };
    const { code, stderr } = await memory(['get', 'mem_1', '--api-key', ''], { env });
    expect(stderr).toStartWith('Error: --api-key must not be empty.');
    expect(code).toBe(2);
  });

  test('an unreachable server is reported with a hint, exit 5', async () => {
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

const inClone = { env: { npm_command: 'exec' }, program: ['/bin/bun', '/clone/cli/main.ts'] };

describe.each([
  ['npx memory', inClone.program],
  ['npx memory-service', ['/bin/bun', '/packed/cli/main.js']],
])('if npm started the program, the output shows commands with %s', (name, program) => {
  const around = { env: { npm_command: 'exec' }, program };

  test('in hints, as text and as JSON', async () => {
    const { stderr } = await memory(['get', 'mem_1'], around);
    expect(stderr).toContain(`: ${name} keys create --save\n`);
    const { stdout } = await memory(['get', 'mem_1', '--json'], around);
    expect(JSON.parse(stdout).error.hint).toContain(`: ${name} keys create`);
    const started = { ...around, env: { npm_command: 'start' } };
    const usage = await memory(['save', '-u', '', 'x'], started);
    expect(usage.stderr).toContain(`For example: ${name} save`);
    expect(usage.stderr).toContain(`See: ${name} save --help`);
  });

  test('in the help and its examples', async () => {
    for (const argv of [['--help'], ['save', '--help'], ['ingest', 'batch', '--help']]) {
      const { stdout } = await memory(argv, around);
      expect(stdout).toStartWith(`Usage: ${name} `);
      expect(stdout).not.toMatch(/(?<!npx )\bmemory (save|ingest|--)/);
      expect(stdout).not.toContain('npx npx');
      expect((await memory(argv)).stdout).not.toContain('npx');
    }
  });
});

test('no help is wider than a terminal of 80 columns', async () => {
  const paths = runnableCommands(
    await createProgram(testTerminal({ code: 0, stdout: '', stderr: '' })),
  );
  const groups = ['', 'ingest', 'keys', 'profile'];
  for (const path of [...groups, ...paths.map(pathBelowRoot)]) {
    const argv = [...path.split(' ').filter(Boolean), '--help'];
    const { stdout } = await memory(argv, { ...inClone, terminal: 80 });
    expect([path, stdout.split('\n').filter((line) => line.length > 80)]).toEqual([path, []]);
    expect(stdout).not.toContain('display help');
  }
});

describe('a wrong base URL', () => {
  test('https for a server without TLS', async () => {
    const server = await startTestServer();
    const around = { env: { MEMORY_BASE_URL: server.url.replace('http:', 'https:') } };
    const { code, stderr } = await memoryAt(server)(['get', 'mem_1'], around);
    expect(stderr).toContain(`use http:// instead: ${server.url}\n`);
    expect(code).toBe(5);
    await server.stop();
  });

  test('/v1 in the base URL', async () => {
    const around = { env: { MEMORY_BASE_URL: 'http://x/v1/', MEMORY_API_KEY: 'k' } };
    for (const argv of [['get', 'mem_1'], ['health']]) {
      const { code, stderr } = await memory(argv, around);
      expect(stderr).toStartWith('Error: MEMORY_BASE_URL must not contain /v1: http://x/v1/\n');
      expect(stderr).toContain('Remove /v1 from the base URL: http://x\n');
      expect(code).toBe(2);
    }
  });
});

describe('help', () => {
  test('for list describes the output of --json, with and without --all', async () => {
    const { stdout } = await memory(['list', '--help']);
    expect(stdout).toContain('--json prints the page as one object');
    expect(stdout).toContain('one object per line');
  });

  test('for keys list says that no key is shown in full', async () => {
    const { stdout } = await memory(['keys', 'list', '--help']);
    expect(stdout).toContain('List the keys with their ids. No key is shown in full.');
  });

  test('for one command is the same whether other commands are loaded or not', async () => {
    const ran = { code: 0, stdout: '', stderr: '' };
    const program = await createProgram(testTerminal(ran));
    await program.parseAsync(['list', '--help'], { from: 'user' }).catch(() => {});
    expect((await memory(['list', '--help'])).stdout).toBe(ran.stdout);
    const before = ['--base-url', 'http://127.0.0.1:1', '--no-color', 'list', '--help'];
    expect((await memory(before)).stdout).toBe(ran.stdout);
  });
});

describe('help of every command', async () => {
  const program = await createProgram(testTerminal({ code: 0, stdout: '', stderr: '' }));
  const leaves = program.commands.flatMap((command) =>
    command.commands.length > 0
      ? command.commands.map((inner) => [command.name(), inner.name()])
      : [[command.name()]],
  );
  for (const words of leaves) {
    test(`memory ${words.join(' ')} --help prints examples within 80 columns`, async () => {
      const { code, stdout, stderr } = await memory([...words, '--help']);
      expect(stdout).toStartWith(`Usage: memory ${words.join(' ')}`);
      expect(stdout).toMatch(/\nExamples?:\n {2}/);
      const [text = ''] = stdout.split(/\nExamples?:\n/);
      expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
      expect(stderr).toBe('');
      expect(code).toBe(0);
    });
  }

  test('names the environment variables', async () => {
    const { stdout } = await memory(['--help']);
    expect(stdout).toContain('MEMORY_BASE_URL');
    expect(stdout).toContain('MEMORY_API_KEY');
  });

  test('--version prints only the version', async () => {
    const { version } = await Bun.file('package.json').json();
    expect(await memory(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });
});
