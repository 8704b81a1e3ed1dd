import { describe, expect, test } from 'bun:test';
import { closeSync, constants, openSync, readFileSync } from 'node:fs';
import { processOutput } from '../../cli/terminal/process-output.ts';
import { temporaryFolder } from '../support/folder.ts';
import { startChild, startServing } from '../support/process.ts';
import { until } from '../support/until.ts';
import { event, withMemory } from './command.ts';
import { program, shellAt } from './shell.ts';

/* Tests that require a separate process: pipes, signals and exit codes. */

const userId = 'big';
const { server, memory } = await withMemory();
const content = 'x'.repeat(60_000);
for (let count = 0; count < 40; count += 1) await server.client.save({ userId, content });

const shell = shellAt(server);

/** Opens a named pipe for writing. Returns undefined if no process reads from the pipe. */
function openIfRead(fifo: string): number | undefined {
  try {
    return openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}

describe('a process', () => {
  test.each(['unset HOME', 'HOME='])('after %s stores no profile in the folder', async (line) => {
    using folder = temporaryFolder();
    const path = 'unset XDG_CONFIG_HOME USERPROFILE; $MEMORY profile show --json';
    const { stdout } = await shell(`cd ${folder.path}; ${line}; ${path}`).ended;
    expect(stdout).toMatch(/[~/].*\.config\/memory-service\/profile\.json/);
    expect(stdout).not.toContain(folder.path);
  });

  const withPython = test.if(Bun.which('python3') !== null);
  withPython('a non-blocking pipe receives every byte', async () => {
    const python = `
import os, subprocess, sys, fcntl
reader, writer = os.pipe()
fcntl.fcntl(writer, fcntl.F_SETFL, fcntl.fcntl(writer, fcntl.F_GETFL) | os.O_NONBLOCK)
process = subprocess.Popen(sys.argv[1:], stdout=writer)
os.close(writer)
process_count = 0
while True:
    piece = os.read(reader, 4096)
    if not piece: break
    process_count += len(piece)
print(process_count)`;
    const line = `python3 -c '${python}' $MEMORY list --user ${userId} --all`;
    const { stdout } = await shell(line).ended;
    expect(Number(stdout)).toBeGreaterThan(2_400_000);
  });

  test.each([
    [`list --user ${userId} --all`, '', 'mem_'],
    [`export --user ${userId}`, 'Exported 40 memories.\n', '{"id'],
  ])('%s waits for a slow pipe; a closed one ends it silently', async (line, note, begin) => {
    const whole = await shell(`$MEMORY ${line} | (sleep 0.3; wc -lc)`).ended;
    const [count, bytes] = whole.stdout.trim().split(/\s+/).map(Number);
    expect(count).toBe(40);
    expect(bytes).toBe((await memory(line.split(' '))).stdout.length);
    expect(bytes).toBeGreaterThan(2_400_000);
    expect(whole.stderr).toBe(note);
    const closed = `$MEMORY ${line} | head -c 4; echo "\${PIPESTATUS[0]}"`;
    expect(await shell(closed).ended).toEqual({ code: 0, stdout: `${begin}0\n`, stderr: '' });
  });

  test.each([
    ['a full disk', `$MEMORY list --user ${userId} > /dev/full`, 1, 'ENOSPC'],
    ['a failure with stdout on a full disk', '$MEMORY get mem_1 --json >/dev/full', 3, ''],
    ['a failure with a closed stdout', '(sleep 0.2; $MEMORY get mem_1 --json) | true', 3, ''],
  ])('%s is reported on stderr', async (_, line, code, reason) => {
    const { stdout, stderr } = await shell(`${line}; echo "\${PIPESTATUS[0]}"`).ended;
    expect(stdout).toBe(`${code}\n`);
    expect(stderr).toStartWith(`Error: ${reason}`);
    expect(stderr).not.toContain('process-output');
    expect(stderr).not.toContain('Bun v');
  });

  test('reads from a named pipe; Ctrl-C ends the wait for input', async () => {
    using folder = temporaryFolder();
    const fifo = folder.file('fifo');
    expect(Bun.spawnSync(['mkfifo', fifo]).exitCode).toBe(0);
    const record = JSON.stringify({ userId: 'fifo', data: { subject: 'x', comments: [] } });
    const env = { MEMORY_BASE_URL: server.url, MEMORY_API_KEY: server.key };
    for (const endpoint of ['batch', 'support']) {
      const child = startChild([...program, 'ingest', endpoint, fifo], env);
      const writer = await until(() => openIfRead(fifo), { what: 'the reader of the pipe' });
      expect(await child.end('SIGINT')).toBe(130);
      closeSync(writer);
    }
    const line = `printf '%s' '${record}' >${fifo} & $MEMORY ingest support ${fifo}`;
    expect(await shell(line).ended).toMatchObject({ code: 0 });
    const one = event('fifo', 'x');
    const { stderr } = await shell(`$MEMORY ingest batch <(printf '%s' '${one}')`).ended;
    expect(stderr).toBe('1 accepted, 0 failed.\n');
  });

  test('Ctrl-C during a read from stdin exits immediately with status 130', async () => {
    const { child, ended } = shell(`exec $MEMORY ingest batch -`);
    // The command sends the first 500 records and then waits for more input.
    child.stdin.write(`${event('ctrl-c', 'x')}\n`.repeat(501));
    await child.stdin.flush();
    const taken = async () => (await server.client.list({ userId: 'ctrl-c' })).items.length > 0;
    await until(taken, { what: 'the first chunk' });
    // Allow time for the response to reach the command after the records are stored.
    await Bun.sleep(250);
    child.kill('SIGINT');
    const { code, stdout, stderr } = await ended;
    expect(stderr).toContain('Stopped after 500 records. Run the same command again to continue');
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
  });

  test('the texts of two process substitutions are stored as two memories', async () => {
    const ingest = '$MEMORY ingest document -u substituted';
    await shell(`${ingest} <(printf one); ${ingest} <(printf two)`).ended;
    const { items } = await server.client.list({ userId: 'substituted' });
    expect(items.map(({ content }) => content).toSorted()).toEqual(['one', 'two']);
  });
});

/** Runs the command on a terminal. `shows` waits until the screen contains the words. */
function onTerminal(args: string[], folder: { path: string }, more: Record<string, string> = {}) {
  let screen = '';
  const child = Bun.spawn([...program, ...args], {
    env: { PATH: process.env.PATH, HOME: folder.path, TERM: 'xterm', ...more },
    terminal: {
      cols: 200,
      data: (_, shown) => {
        screen += new TextDecoder().decode(shown);
      },
    },
  });
  const shows = (words: string) => until(() => screen.includes(words), { what: words });
  return { child, shows, screen: () => screen };
}

test('a key that is typed on a terminal is not shown', async () => {
  using folder = temporaryFolder();
  const to = { MEMORY_BASE_URL: server.url };
  const { child, shows, screen } = onTerminal(['profile', 'set', server.url, '-'], folder, to);
  await shows('API key (not shown): ');
  child.terminal?.write(`${server.key}\r`);
  expect(await child.exited).toBe(0);
  await shows('Stored the key');
  expect(screen()).not.toContain(server.key);
});

describe('memory serve', () => {
  function serve(folder: ReturnType<typeof temporaryFolder>, ready?: string) {
    const env = { XDG_CONFIG_HOME: folder.path, MEMORY_API_KEY: '', LOG_LEVEL: 'silent' };
    return startServing(program, folder.file('memory.db'), env, ready);
  }

  test('prints its address, stores the first key without logging it, and stops on a signal', async () => {
    using folder = temporaryFolder();
    const server = await serve(folder, 'memory search');
    const { url } = server;
    const profile = readFileSync(folder.file('memory-service/profile.json'), 'utf8');
    const apiKey = expect.stringMatching(/^mk_\w{38}$/);
    expect(JSON.parse(profile)).toEqual({ keys: { [url]: { apiKey, firstRun: true } } });
    expect(server.log()).toContain(folder.file('memory-service/profile.json'));
    const env = { MEMORY_API_KEY: '', MEMORY_BASE_URL: url, XDG_CONFIG_HOME: folder.path };
    expect(await shell('$MEMORY save --user u x', env).ended).toMatchObject({ code: 0 });
    expect(await server.end('SIGTERM')).toBe(0);
    expect(server.log()).toEndWith('Stopped.\n');
    expect(server.log()).not.toContain('mk_');

    const again = await serve(folder);
    expect(again.log()).not.toContain('mk_');
    // On Ctrl-C, the service receives a signal from the terminal and another from npm. Two signals
    // in quick succession count as one.
    again.signal('SIGTERM');
    expect(await again.end('SIGINT')).toBe(0);
    expect(again.log()).toEndWith('Stopped.\n');
  });

  test('started by `npm start` stops if only npm receives the signal, as in a container', async () => {
    using folder = temporaryFolder();
    const npm = startChild(['npm', 'start'], {
      PORT: '0',
      MEMORY_DATABASE_URL: `sqlite:${folder.file('memory.db')}`,
      XDG_CONFIG_HOME: folder.path,
      LOG_LEVEL: 'silent',
      npm_config_update_notifier: 'false',
    });
    await until(() => npm.log().includes('Press Ctrl-C to stop.'), { what: 'the banner' });
    process.kill(npm.pid, 'SIGTERM');
    expect(await npm.exited).toBe(0);
    expect(npm.log()).toContain('Stopped.\n');
  });
});

test.each([
  ['are printed on a terminal', {}, true],
  ['are not printed with NO_COLOR', { NO_COLOR: '1' }, false],
  ['are not printed on a dumb terminal', { TERM: 'dumb' }, false],
])('colors %s', async (_, more, isColored) => {
  using folder = temporaryFolder();
  const { child, shows, screen } = onTerminal(['get', ''], folder, more);
  await shows('See: ');
  expect(screen().includes('\u001b[31mError:')).toBe(isColored);
  expect(await child.exited).toBe(2);
});

test('the help fills a wide terminal', async () => {
  using folder = temporaryFolder();
  const { child, shows } = onTerminal(['keys', '--help'], folder);
  await shows('API keys in the database. Works whether or not the server is running.');
  expect(await child.exited).toBe(0);
});

test('concurrent writes are written whole and in order', async () => {
  using folder = temporaryFolder();
  const path = folder.file('output');
  const fd = openSync(path, 'w');
  const output = processOutput(fd, () => ({}));
  const pieces = Array.from({ length: 1_000 }, (_, index) => `${index}\n`);
  await Promise.all(pieces.map((piece) => output.write(piece)));
  closeSync(fd);
  expect(readFileSync(path, 'utf8')).toBe(pieces.join(''));
});
