import { describe, expect, test } from 'bun:test';
import { memoryAt } from '../cli/command.ts';
import { program } from '../cli/shell.ts';
import { html, json, refusal, startFaultServer } from '../support/fault-server.ts';
import { noHome } from '../support/process.ts';
import { withProject } from '../support/server.ts';

const server = await withProject();
const memory = (argv: string[], around = {}) => memoryAt(server)(argv, around);

const clientInfo = { name: 'tests', version: '1' };
const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
const hello = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
const ofAda = await server.createKey('default', { userId: 'ada' });
const away = { MEMORY_BASE_URL: 'http://127.0.0.1:1' };

const listCall = { method: 'tools/call', params: { name: 'list_memories', arguments: {} } };

/** Runs `memory mcp --user u` in this process until it has answered a message, and returns that. */
async function answerOf(args: string[], message: object, env: Record<string, string> = {}) {
  let stdout = '';
  const input = new TransformStream<Uint8Array, Uint8Array>();
  const writer = input.writable.getWriter();
  const onOutput = (text: string) => {
    stdout += text.startsWith('{') ? text : '';
    if (stdout.split('\n').length > 2) void writer.close();
  };
  const around = { stdin: input.readable, onOutput, env };
  const running = memory(['mcp', '--user', 'u', ...args], around);
  const sent = JSON.stringify({ jsonrpc: '2.0', id: 2, ...message });
  void writer.write(Buffer.from(`${hello}\n${sent}\n`));
  const { code, stderr } = await running;
  expect(code).toBe(0);
  return { answer: stdout.split('\n')[1] ?? '', stderr };
}

describe('memory mcp exits', () => {
  test.each([
    ['at the end of its input', null],
    ['on SIGTERM', 'SIGTERM'],
    ['on SIGINT', 'SIGINT'],
  ] as const)('%s, with status 0', async (_, signal) => {
    const child = Bun.spawn([...program, 'mcp', '--user', 'u'], {
      env: { ...noHome, MEMORY_BASE_URL: server.url, MEMORY_API_KEY: server.key },
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'ignore',
    });
    child.stdin.write(`${hello}\n`);
    void child.stdin.flush();
    const { value } = await child.stdout.getReader().read();
    expect(JSON.parse(new TextDecoder().decode(value))).toMatchObject({ id: 1 });
    if (signal === null) child.stdin.end();
    else child.kill(signal);
    expect(await child.exited).toBe(0);
  });
});

describe('memory mcp starts', () => {
  test('while the service is unreachable, if the user is named', async () => {
    const { answer, stderr } = await answerOf([], listCall, away);
    expect(answer).toContain('"isError":true');
    expect(answer).toContain('did not respond');
    const why =
      'Cannot reach http://127.0.0.1:1 (connection refused). ' +
      'Is the server running? Try: memory serve, or check the address: memory profile show';
    expect(answer).toContain(why);
    // The error is printed at the start and at the failed call, because MCP clients log stderr.
    expect(stderr).toBe(`${why}\n${why}\n`);
  });

  test.each([
    ['without a user, for a key that is not bound to one', [], {}, 2, 'Missing --user'],
    ['without a user, while the service is unreachable', [], away, 5, 'Cannot reach'],
    ['without a key', ['-u', 'u'], { MEMORY_API_KEY: '' }, 4, 'No API key'],
    ['with a wrong key', ['-u', 'u'], { MEMORY_API_KEY: 'x'.repeat(20) }, 4, 'was rejected'],
    ['with a key of no ASCII', ['-u', 'u'], { MEMORY_API_KEY: 'schlüssel' }, 4, 'rejected: '],
    ['with the key of another user', ['-u', 'bob'], { MEMORY_API_KEY: ofAda }, 4, 'another user'],
    ['with an empty user', ['-u', ''], {}, 2, 'must not be empty'],
    ['with an unknown command', ['x'], {}, 2, "Unknown command 'x'"],
  ])('but not %s', async (_, args, env, code, why) => {
    const ran = await memory(['mcp', ...args], { env });
    expect(ran).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(why) });
  });

  test('but not if another web server responds at the address', async () => {
    using other = startFaultServer(html(404));
    const ran = await memory(['mcp', '--user', 'u'], { env: { MEMORY_BASE_URL: other.url } });
    const stderr = expect.stringContaining('did not respond like the memory service');
    expect(ran).toMatchObject({ code: 1, stdout: '', stderr });
  });

  test('on a terminal, with a note that it waits for a client', async () => {
    const { stderr, code } = await memory(['mcp', '--user', 'u'], { typed: '' });
    expect(stderr).toContain('Waiting for an MCP client');
    expect(stderr).toContain('memory mcp install');
    expect(code).toBe(0);
  });

  test('even if the service reports an error, as long as --user is given', async () => {
    using failing = startFaultServer(refusal(500, 'internal', { 'Retry-After': '90' }));
    const env = { MEMORY_BASE_URL: failing.url };
    const ran = await memory(['mcp', '--user', 'u'], { env });
    const stderr = expect.stringContaining('It is internal.');
    expect(ran).toMatchObject({ code: 0, stdout: '', stderr });
  });
});

const key = { project: 'default', keyName: 'k', userId: null, readOnly: false, expiresAt: null };

/** Lists memories through a service that answers with `reply`. */
async function listFrom(reply: Parameters<typeof startFaultServer>[0]) {
  using failing = startFaultServer(json(200, key), reply);
  const { answer, stderr } = await answerOf([], listCall, { MEMORY_BASE_URL: failing.url });
  return { result: JSON.parse(answer).result, stderr };
}

test('a tool reports a service error with an unknown code', async () => {
  const { result } = await listFrom(refusal(410, 'gone'));
  const text = 'The memory service is unavailable: it is gone. Call again in a moment.';
  expect(result).toEqual({ content: [{ type: 'text', text }], isError: true });
});

test('an unexpected error in a tool is printed on stderr', async () => {
  // The tool fails on a memory without fields.
  const { result, stderr } = await listFrom(json(200, { items: [{}], nextCursor: null }));
  const text = 'Internal error in the memory tools; see the log for details.';
  expect(result).toEqual({ content: [{ type: 'text', text }], isError: true });
  expect(stderr).toContain('createdAt');
});

test('--read-only offers only the three tools that read', async () => {
  const { answer } = await answerOf(['--read-only'], { method: 'tools/list' });
  expect(answer.match(/"name":"\w+_memor\w+"/g)).toHaveLength(3);
  expect(answer).not.toContain('save_memory');
});

test.each([
  [401, 'unauthorized', 'The API key was rejected. Ask the user to configure a valid key.'],
  [403, 'forbidden', 'Not allowed: it is forbidden. Ask the user to configure another key.'],
  [413, 'payload_too_large', 'The text is too large: it is payload_too_large. Save it in parts.'],
])('a tool result for a %i contains advice for the model', async (status, code, text) => {
  const { result } = await listFrom(refusal(status, code));
  expect(result).toEqual({ content: [{ type: 'text', text }], isError: true });
});

test('memory mcp exits if it is interrupted before it has connected to the service', async () => {
  const stdin = new ReadableStream<Uint8Array>();
  const ran = await memory(['mcp', '--user', 'u'], { stdin, interrupted: AbortSignal.abort() });
  expect(ran).toMatchObject({ code: 0, stdout: '' });
});
