import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { newUser } from '../support/http.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { memoryAt } from './command.ts';

/* Imports small files in the formats of other services. */

let server: TestServer;
let memory: ReturnType<typeof memoryAt>;
beforeAll(async () => {
  server = await startTestServer();
  memory = memoryAt(server);
});
afterAll(() => server.stop());

const importFrom = (format: string, text: string, ...more: string[]) =>
  memory(['import', '--from', format, ...more, '-'], { stdin: text });
const all = async (userId: string) =>
  (await server.client.list({ userId, order: 'asc', limit: 100 })).items;
const summary = (imported: number, skipped: number, failed: number) =>
  `imported\t${imported}\nskipped\t${skipped}\nfailed\t${failed}\n`;

test('without --from, the error for a file in another format names the formats', async () => {
  const one = { id: 'a', memory: 'Likes tea', user_id: newUser() };
  const hint = 'This is not an export from this service. For an export from mem0: --from mem0\n';
  for (const value of [[one], { results: [one] }, one]) {
    const { code, stderr } = await memory(['import', '-'], { stdin: JSON.stringify(value) });
    expect(stderr).toContain(hint);
    expect(code).toBe(1);
  }
  const ours = { ...one, userId: 'u', content: 'Likes tea' };
  for (const stdin of [ours, one].map(
    (last) => `${JSON.stringify(ours)}\n${JSON.stringify(last)}`,
  )) {
    const { code, stderr } = await memory(['import', '-'], { stdin });
    expect(stderr).not.toContain('--from');
    expect(code).toBe(1);
  }
});

describe('memory import --from mem0', () => {
  const userId = newUser();
  const exported = {
    results: [
      {
        id: '0f4b6a5c-6a3e-4f0e-9d5c-1c2b3a4d5e6f',
        memory: 'Prefers window seats',
        hash: 'c1d8f0',
        metadata: { trip: 'Oslo', categories: ['seats'] },
        score: null,
        user_id: userId,
        agent_id: 'travel',
        categories: ['travel'],
        immutable: false,
        expiration_date: null,
        created_at: '2026-03-01T10:00:00.123456-07:00',
        updated_at: '2026-03-02T10:00:00.000000',
      },
      { id: '2', memory: 'Is in Rome', user_id: userId, expiration_date: '2026-03-09', hash: 'x' },
      { id: '3', memory: 'Works at TechCorp', user_id: userId, expiration_date: '2999-01-01' },
      { id: '4', memory: 'Belongs to nobody' },
      { id: '5', user_id: userId },
    ],
    relations: [{ source: 'dev', relationship: 'works_at', target: 'techcorp' }],
  };
  const text = JSON.stringify(exported);

  test('keeps text, user, id, labels and times, and counts all other data', async () => {
    const { code, stdout, stderr } = await importFrom('mem0', text);
    expect(stdout).toBe(summary(2, 0, 2));
    expect(code).toBe(1);
    expect(stderr).toBe(
      'item 3: userId: is required\nitem 4: content: is required\n' +
        'Not imported: relations: 1, hash: 1, expired memories: 1.\n',
    );
    const [first, second, ...more] = await all(userId);
    expect(more).toEqual([]);
    expect(first).toMatchObject({
      content: 'Prefers window seats',
      metadata: { trip: 'Oslo', categories: ['seats'], agent_id: 'travel' },
      ...{ type: 'memory', status: 'complete', source: 'mem0', expiresAt: null },
      externalId: '0f4b6a5c-6a3e-4f0e-9d5c-1c2b3a4d5e6f',
      createdAt: '2026-03-01T17:00:00.123Z',
      updatedAt: '2026-03-02T10:00:00.000Z',
    });
    expect(second).toMatchObject({ expiresAt: '2999-01-01T00:00:00.000Z' });
    const found = await server.client.search({ userId, query: 'window seat' });
    expect(found.items.map(({ id }) => id)).toEqual([String(first?.id)]);
  });

  test('skips memories that were imported before and changes nothing', async () => {
    const before = await all(userId);
    const { stdout } = await importFrom('mem0', text);
    expect(stdout).toBe(summary(0, 2, 2));
    expect(await all(userId)).toEqual(before);
  });

  test('--user sets the user of all memories; a plain list is accepted too', async () => {
    const user = newUser();
    const list = JSON.stringify(exported.results.slice(0, 4));
    const ran = await importFrom('mem0', list, '--user', user);
    expect(ran).toMatchObject({ code: 0, stdout: summary(3, 0, 0) });
    expect(await all(user)).toHaveLength(3);
  });

  test.each(['{"message":"expired"}', '"x"', 'null'])('rejects %s', async (other) => {
    const ran = await importFrom('mem0', other);
    expect(ran).toMatchObject({ code: 1, stdout: '' });
    expect(ran.stderr).toContain(
      'The input is not an export in this format: expected a list of memories',
    );
  });
});

describe('memory import --from jsonl', () => {
  const userId = newUser();
  const lines = [
    { userId, text: 'Likes tea', created_at: 1_771_000_000, mood: 'calm' },
    { userId, content: 'Likes tea' },
    { userId, content: 'Likes tea' },
    { user_id: userId, memory: 'Diet', id: 7, source: 'app', metadata: { k: [1] } },
  ];
  const text = `${lines.map((line) => JSON.stringify(line)).join('\n')}\n{"text"\n[]\n`;

  test('imports each line as a memory and reports invalid lines by number', async () => {
    const { code, stdout, stderr } = await importFrom('jsonl', text);
    expect(stdout).toBe(summary(4, 0, 2));
    expect(code).toBe(1);
    expect(stderr).toMatch(/^line 5: is not valid JSON: .*\nline 6: must be an object\n/);
    expect(stderr).toEndWith('Not imported: mood: 1.\n');
    const items = await all(userId);
    expect(items.map(({ content }) => content).sort()).toEqual([
      'Diet',
      'Likes tea',
      'Likes tea',
      'Likes tea',
    ]);
    expect(items.find(({ content }) => content === 'Diet')).toMatchObject({
      ...{ source: 'app', externalId: '7', metadata: { k: [1] } },
    });
    expect(items.map(({ createdAt }) => createdAt)).toContain('2026-02-13T16:26:40.000Z');
  });

  test('a second run creates no duplicates, even if lines are equal', async () => {
    expect((await importFrom('jsonl', text)).stdout).toBe(summary(0, 4, 2));
    expect(await all(userId)).toHaveLength(4);
  });
});

describe('memory import --from chatgpt', () => {
  const at = 1_771_000_000.5;
  const node = (id: string, parent: string | null, message: object | null) => ({
    [id]: { id, parent, children: [], message },
  });
  const say = (role: string, ...parts: unknown[]) => ({
    author: { role, name: null, metadata: {} },
    content: { content_type: 'text', parts },
    create_time: at,
    weight: 1,
    recipient: 'all',
    metadata: {},
  });
  const image = { content_type: 'image_asset_pointer', asset_pointer: 'file-service://1' };
  const conversation = {
    title: 'Moving to Bern',
    create_time: at,
    update_time: at,
    conversation_id: 'c-1',
    current_node: 'f',
    mapping: {
      ...node('root', null, null),
      ...node('s', 'root', say('system', 'be kind')),
      ...node('a', 's', say('user', 'I moved to Bern', image)),
      ...node('b', 'a', say('assistant', 'first answer')),
      ...node('c', 'a', { ...say('assistant', 'search("Bern")'), recipient: 'web' }),
      ...node('d', 'c', say('tool', 'results')),
      ...node('t', 'd', {
        ...say('assistant'),
        content: { content_type: 'thoughts', thoughts: [] },
      }),
      ...node('f', 't', say('assistant', 'How do you like it?')),
    },
  };
  const empty = { ...conversation, conversation_id: 'c-2', mapping: node('root', null, null) };
  const whole = {
    ...conversation,
    current_node: 'a',
    mapping: { ...node('root', null, null), ...node('a', 'root', say('user', 'Likes tea')) },
  };
  const text = JSON.stringify([conversation, empty]);

  test('says nothing about lost data if none is lost', async () => {
    const ran = await importFrom('chatgpt', JSON.stringify([whole]), '--user', newUser());
    expect(ran.stdout).toBe('accepted\t1\nreplayed\t0\nfailed\t0\n');
    expect(ran.stderr).not.toContain('Not imported');
  });

  test('ingests the visible messages of each conversation, and counts all other data', async () => {
    const userId = newUser();
    const { code, stdout, stderr } = await importFrom('chatgpt', text, '--user', userId);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'accepted\t1\nreplayed\t0\nfailed\t0\n' });
    expect(stderr).toContain(
      'Not imported: messages on abandoned branches: 1, hidden messages: 1, images and files: 1, ' +
        'tool messages: 2, thoughts: 1, conversations without messages: 1.\n',
    );
    const [memory, ...more] = await all(userId);
    expect(more).toEqual([]);
    expect(memory).toMatchObject({
      content:
        'Moving to Bern\n\n[2026-02-13T16:26:40.500Z] user: I moved to Bern\n[image]\n' +
        '[2026-02-13T16:26:40.500Z] assistant: How do you like it?',
      ...{ type: 'conversation', source: 'chatgpt', externalId: 'c-1' },
      occurredAt: '2026-02-13T16:26:40.500Z',
    });
  });

  test('a second run updates the same memories', async () => {
    const userId = newUser();
    await importFrom('chatgpt', text, '--user', userId);
    const before = await all(userId);
    expect((await importFrom('chatgpt', text, '--user', userId)).code).toBe(0);
    const after = await all(userId);
    expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    expect(after).toHaveLength(1);
  });

  test('a conversation with more than 1,000 messages becomes several records', async () => {
    const userId = newUser();
    const mapping = Object.assign(
      node('n0', null, say('user', 'message 0')),
      ...Array.from({ length: 2_400 }, (_, at) =>
        node(`n${at + 1}`, `n${at}`, say('user', `message ${at + 1}`)),
      ),
    );
    const long = JSON.stringify([{ ...conversation, mapping, current_node: 'n2400' }]);
    const ran = await importFrom('chatgpt', long, '--user', userId);
    expect(ran.stdout).toBe('accepted\t3\nreplayed\t0\nfailed\t0\n');
    const items = await all(userId);
    expect(items.map(({ externalId }) => externalId)).toEqual(['c-1', 'c-1#2', 'c-1#3']);
    expect(items[2]?.content).toContain('user: message 2400');
  });

  test('requires --user', async () => {
    const { code, stderr } = await importFrom('chatgpt', text);
    expect(code).toBe(2);
    expect(stderr).toContain('A ChatGPT export does not contain a user id.');
  });
});

test('--user without --from is rejected', async () => {
  const { code, stderr } = await memory(['import', '--user', 'ada', '-'], { stdin: '' });
  expect(code).toBe(2);
  expect(stderr).toContain('--user requires --from');
});

test('a numeric id that JSON.parse would round is reported, and null is an invalid line', async () => {
  const userId = newUser();
  const lines = [
    `{"id":9007199254740993,"text":"a","userId":"${userId}"}`,
    `{"id":9007199254740992,"text":"b","userId":"${userId}"}`,
    `{"id":9007199254740991,"text":"c","userId":"${userId}"}`,
    'null',
  ];
  const { stdout, stderr } = await importFrom('jsonl', lines.join('\n'));
  expect(stdout).toBe(summary(1, 0, 3));
  expect(stderr).toContain('line 1: externalId: must be a string');
  expect(stderr).toContain('line 4: ');
  expect((await all(userId)).map(({ externalId }) => externalId)).toEqual(['9007199254740991']);
});
