import { describe, expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { withFolder } from '../support/folder.ts';
import { until } from '../support/until.ts';
import { installCommand } from './shell.ts';

/* These tests run real shells. transcripts/completion.txt shows the suggestions. */

const folder = withFolder();
const env = { PATH: `${folder.file('bin')}:${process.env.PATH}`, HOME: folder.path, TERM: 'xterm' };
installCommand(folder);
mkdirSync(folder.file('work'));
for (const name of ['one.jsonl', 'other.jsonl']) writeFileSync(folder.file(`work/${name}`), '');

function has(shell: string): boolean {
  const found = Bun.which(shell) !== null;
  if (!found) console.warn(`NOT TESTED: completion in ${shell}, which is not installed here`);
  return found;
}

/** Types into an interactive shell and waits until `shown` appears on its screen. */
async function typing(command: string[], setUp: string, typed: string, shown: string) {
  let screen = '';
  const decoder = new TextDecoder();
  const data = (_: unknown, bytes: Uint8Array) => {
    screen += Bun.stripANSI(decoder.decode(bytes, { stream: true }));
  };
  const shell = Bun.spawn(command, {
    cwd: folder.file('work'),
    env: { ...env, PS1: '$ ' },
    terminal: { cols: 120, rows: 40, data },
  });
  try {
    // The quotes keep the echoed input from matching the expected output.
    shell.terminal?.write(`${setUp}; echo re''ady\n`);
    await until(() => screen.includes('ready\r\n'), { what: 'the prompt' });
    screen = '';
    shell.terminal?.write(typed);
    await until(() => screen.includes(shown), { what: shown });
  } finally {
    shell.kill('SIGKILL');
    await shell.exited;
  }
}

const typedAndShown = [
  ['memory ingest ba\t', 'memory ingest batch '],
  ['memory list --ord\t', 'memory list --order '],
  ['memory list --order d\t', 'memory list --order desc '],
  ['memory list --order=d\t', 'memory list --order=desc '],
  ['memory ingest batch on\t', 'memory ingest batch one.jsonl '],
  ['memory ingest batch --errors-out=ot\t', '--errors-out=other.jsonl '],
] as const;

describe.if(has('bash'))('completion in bash', () => {
  const bash = ['bash', '--norc', '--noprofile', '-i'];
  const setUp = 'source <(memory completion bash)';
  test.each(typedAndShown)('%s', (typed, shown) => typing(bash, setUp, typed, shown));

  test('never executes the typed line', () => {
    const typed = 'memory list --user "$(touch evil)" --ord\t\x15ls\n';
    return typing(bash, setUp, typed, 'one.jsonl  other.jsonl');
  });
});

describe.if(has('zsh'))('completion in zsh', () => {
  const setUp = 'autoload -Uz compinit; compinit -u; source <(memory completion zsh)';
  test.each([...typedAndShown, ['memory ingest \t', 'batch     -- Ingest a JSONL file']])(
    '%s',
    (typed, shown) => typing(['zsh', '-f', '-i'], setUp, typed, shown),
  );
});

describe.if(has('fish'))('completion in fish', () => {
  async function complete(line: string): Promise<string> {
    const script = 'memory completion fish | source; complete -C $argv[1]';
    const fish = Bun.spawn(['fish', '--no-config', '-c', script, line], {
      cwd: folder.file('work'),
      env,
      stderr: 'pipe',
    });
    expect(await fish.stderr.text()).toBe('');
    return fish.stdout.text();
  }

  const batch = 'Ingest a JSONL file of any size, with a record of any type on each line.';
  test.each([
    ['memory ingest ba', `batch\t${batch}\n`],
    ['memory list --order d', 'desc\n'],
    ['memory list --order=d', '--order=desc\n'],
    ['memory ingest batch on', 'one.jsonl\n'],
  ])('%s', async (line, expected) => {
    expect(await complete(line)).toBe(expected);
  });
});
