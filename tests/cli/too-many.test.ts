import { describe, expect, test } from 'bun:test';
import { isRepeatable, pathBelowRoot, runnableCommands } from '../../cli/commander.ts';
import { createProgram } from '../../cli/program.ts';
import { memory, testTerminal } from './command.ts';

const inQuotes = 'Put text that contains spaces in quotes. ';
const oneFile = 'Pass one file at a time. ';
const several = (path: string) =>
  `${oneFile}To combine several JSON Lines files: cat a.jsonl b.jsonl | memory ${path} -\n`;

const cases: Array<[string, string[], string]> = [
  ['save', ['two', 'words', '-u', 'u'], inQuotes],
  ['search', ['two', 'words', '-u', 'u'], inQuotes],
  ['update', ['mem_1', 'two', 'words'], inQuotes],
  ['ingest batch', ['a.jsonl', 'b.jsonl'], several('ingest batch')],
  ['ingest support', ['a.jsonl', 'b.jsonl'], several('ingest support')],
  ['import', ['a.jsonl', 'b.jsonl'], several('import')],
  ['restore', ['a.db', 'b.db'], oneFile],
  ['delete', ['mem_1', 'mem_2'], ''],
  ['get', ['mem_1', 'mem_2'], ''],
  ['keys create', ['extra'], 'Did you mean: memory keys create --user extra\n'],
  ['serve', ['extra'], ''],
];
test.each(cases)('too many arguments for %s', async (path, more, hint) => {
  const { code, stderr } = await memory([...path.split(' '), ...more]);
  const [message, ...rest] = stderr.split('\n');
  expect(message).toStartWith('Error: Too many arguments');
  expect(rest.join('\n')).toBe(`${hint}See: memory ${path} --help\n`);
  expect(code).toBe(2);
});

describe('--user twice', async () => {
  const program = await createProgram(testTerminal({ code: 0, stdout: '', stderr: '' }));
  const withUser = runnableCommands(program).filter((command) =>
    command.options.some(({ long }) => long === '--user'),
  );
  const paths = withUser.map(pathBelowRoot);
  test('is tested for every command with --user', () => {
    expect(paths).toContain('delete');
    expect(paths.length).toBeGreaterThan(7);
    const users = withUser.flatMap(({ options }) =>
      options.filter(({ long }) => long === '--user'),
    );
    expect(users.filter(isRepeatable)).toEqual([]);
  });

  test.each(paths)('is rejected by %s', async (path) => {
    const argv = [...path.split(' '), '-u', 'a', '--user', 'b'];
    const { code, stderr } = await memory(argv);
    expect(stderr).toStartWith('Error: --user can be given only once.\n');
    expect(code).toBe(2);
    const json = await memory([...argv, '--json']);
    expect(JSON.parse(json.stdout).error).toMatchObject({ code: 'usage' });
  });
});
