import { describe, expect, test } from 'bun:test';
import { run } from '../../cli/run.ts';
import { memoryAt, testTerminal } from '../cli/command.ts';
import { program } from '../cli/shell.ts';
import { html, json, refusal, silent, startFaultServer } from '../support/fault-server.ts';
import { noHome } from '../support/process.ts';
import { withProject } from '../support/server.ts';
import { connectTo, type Way } from './connect.ts';
import { call } from './messages.ts';

const server = await withProject();
const memory = (argv: string[], around = {}) => memoryAt(server)(argv, around);

const overStdio: Way = { transport: 'stdio', version: '2025-11-25' };
const clientInfo = { name: 'tests', version: '1' };
const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
const hello = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
const ofAda = await server.createKey('default', { userId: 'ada' });
const away = { MEMORY_BASE_URL: 'http://127.0.0.1:1' };

const listCall = { method: 'tools/call', params: { name: 'list_memories', arguments: {} } };

/** Runs `memory mcp --user u` in this process on these lines, and returns its responses. */
async function answersTo(lines: string[], args: string[] = [], env: Record<string, string> = {}) {
  const stdin = [hello, ...lines].join('\n');
  const { code, stdout, stderr } = await memory(['mcp', '--user', 'u', ...args], { stdin, env });
  expect(code).toBe(0);
  const answers = stdout.trimEnd().split('\n');
  return { answers: answers.filter((answer) => JSON.parse(answer).id !== 1), stderr };
}

async function answerOf(args: string[], message: object, env: Record<string, string> = {}) {
  const sent = JSON.stringify({ jsonrpc: '2.0', id: 2, ...message });
  const { answers, stderr } = await answersTo([sent], args, env);
  expect(answers).toHaveLength(1);
  return { answer: answers[0] ?? '', stderr };
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

test('memory mcp responds to a rejected line before it exits, even if stdout is slow', async () => {
  const env = { MEMORY_BASE_URL: server.url, MEMORY_API_KEY: server.key };
  const term = testTerminal({ env, stdin: '{' });
  let isWritten = false;
  const write = async () => {
    await server.client.health();
    isWritten = true;
  };
  await run(['mcp', '--user', 'u'], { ...term, stdout: { ...term.stdout, write } });
  expect(isWritten).toBe(true);
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

test('at a service that hangs, attempts end before an MCP client gives up', async () => {
  const none = json(200, { items: [], nextCursor: null });
  using atStart = startFaultServer(silent, json(200, key), none);
  using inCall = startFaultServer(json(200, key), silent, none);
  const timeOf = async ({ url }: { url: string }) => {
    const begin = performance.now();
    const { answer } = await answerOf([], listCall, { MEMORY_BASE_URL: url });
    expect(answer).toContain('End of the list.');
    return performance.now() - begin;
  };
  const [started = 0, called = 0] = await Promise.all([atStart, inCall].map(timeOf));
  expect(started).toBeLessThan(6_000);
  expect(called).toBeLessThan(20_000);
});

test('a tool reports a rate limit at once if it lasts longer than a few seconds', async () => {
  const begin = performance.now();
  const { result } = await listFrom(refusal(429, 'rate_limited', { 'Retry-After': '20' }));
  expect(result.content[0].text).toContain('Too many requests');
  expect(performance.now() - begin).toBeLessThan(10_000);
});

describe('a call that hangs does not keep memory mcp running', () => {
  const sent = JSON.stringify({ jsonrpc: '2.0', id: 2, ...listCall });

  test('after it was cancelled', async () => {
    using hung = startFaultServer(json(200, key), silent);
    const params = { requestId: 2 };
    const cancel = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
    const { answers } = await answersTo([sent, cancel], [], { MEMORY_BASE_URL: hung.url });
    expect(answers).toEqual([]);
    expect(hung.requests.length).toBeLessThanOrEqual(2);
  });

  test('after a signal', async () => {
    using hung = startFaultServer(json(200, key), silent);
    const interruption = new AbortController();
    // The input does not end.
    const { readable: stdin, writable } = new TransformStream<Uint8Array, Uint8Array>();
    void writable.getWriter().write(Buffer.from(`${hello}\n${sent}\n`));
    const around = { stdin, interrupted: interruption.signal, env: { MEMORY_BASE_URL: hung.url } };
    const running = memory(['mcp', '--user', 'u'], around);
    await hung.answered;
    interruption.abort('SIGTERM');
    expect(await running).toMatchObject({ code: 0, stderr: '' });
    expect(hung.requests).toHaveLength(2);
  });
});

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

const mayHave = 'the call may or may not have had its effect';
const again = 'Call again in a moment; a repeated call is safe.';

test.each([
  [401, 'unauthorized', 'The API key was rejected. Ask the user to configure a valid key.'],
  [403, 'forbidden', 'Not allowed: it is forbidden. Ask the user to configure another key.'],
  [413, 'payload_too_large', 'The text is too large: it is payload_too_large. Save it in parts.'],
  // The service's own message asks for the same Idempotency-Key, which is no argument of a tool.
  [500, 'internal', `The memory service failed, and ${mayHave}. ${again}`],
])('a tool result for a %i contains advice for the model', async (status, code, text) => {
  const { result } = await listFrom(refusal(status, code));
  expect(result).toEqual({ content: [{ type: 'text', text }], isError: true });
});

test('memory mcp exits if it is interrupted before it has connected to the service', async () => {
  const stdin = new ReadableStream<Uint8Array>();
  const ran = await memory(['mcp', '--user', 'u'], { stdin, interrupted: AbortSignal.abort() });
  expect(ran).toMatchObject({ code: 0, stdout: '' });
});

/** A number that JSON.stringify() prints with all its digits. */
const { rawJSON } = JSON as JSON & { rawJSON(digits: string): unknown };

test('a number that a double cannot hold is rejected', async () => {
  const userId = 'exact';
  await using client = await connectTo(server, overStdio, { userId });
  for (const n of ['1e400', '9007199254740993', '-9007199254740993']) {
    const save = client.call('save_memory', { content: 'x', metadata: { n: rawJSON(n) } });
    await expect(save).rejects.toThrow('use a string');
  }
  expect((await server.client.list({ userId })).items).toEqual([]);
  // The same digits in a text are accepted, and so is a long number that a double can hold.
  const [content, metadata] = ['9007199254740993', { exact: 9_007_199_254_740_992 }];
  await client.call('save_memory', { content, metadata });
  expect((await server.client.list({ userId })).items).toMatchObject([{ content, metadata }]);
});

describe('a line that is not a message gets an error', () => {
  const batch = 'batches are not supported';
  test.each<[line: string, id: number | null, code: number, message: string]>([
    ['{"jsonrpc":"2.0","id":5,', null, -32_700, 'not valid JSON'],
    [`[${hello},${hello}]`, null, -32_600, batch],
    ['[]', null, -32_600, batch],
    ['null', null, -32_600, 'not a valid JSON-RPC message'],
    ['{"id":5,"method":"tools/list"}', 5, -32_600, 'not a valid JSON-RPC message'],
    ['{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}', null, -32_600, 'use a string'],
    [`{"jsonrpc":"2.0","id":5,"a":${'['.repeat(2e5)}${']'.repeat(2e5)}}`, 5, -32_600, ''],
  ])('%#', async (line, id, code, message) => {
    const { answers } = await answersTo([line, '', '{"jsonrpc":"2.0","id":6,"method":"ping"}']);
    const error = { code, message: expect.stringContaining(message) };
    expect(answers.map((answer) => JSON.parse(answer))).toEqual([
      { jsonrpc: '2.0', id, error },
      { jsonrpc: '2.0', id: 6, result: {} },
    ]);
  });

  test('bytes that are not UTF-8', async () => {
    const save = JSON.stringify({ ...call('save_memory', { content: 'caf\u00e9' }), id: 2 });
    const stdin = new Blob([hello, '\n', Buffer.from(save, 'latin1'), '\n']).stream();
    const { stdout } = await memory(['mcp', '--user', 'latin'], { stdin });
    expect(stdout).toContain('-32700');
    expect((await server.client.list({ userId: 'latin' })).items).toEqual([]);
  });
});

test('a text of any size gets a response that says what to do', async () => {
  const args = { name: 'save_memory', arguments: { content: 'x'.repeat(11_000_000) } };
  const { answer } = await answerOf([], { method: 'tools/call', params: args });
  expect(answer).toContain('The text is too large');
  expect(answer).toContain('Save it in parts.');
});
