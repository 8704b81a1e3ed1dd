import { describe, expect, test } from 'bun:test';
import type { Memory } from '../../sdk/contract/memory.ts';
import { ask, bodyOf, getPage, ingest, newUser, save } from '../support/http.ts';
import { withProject } from '../support/server.ts';

const server = await withProject();

async function saveWith(userId: string, content: string, metadata: object): Promise<void> {
  bodyOf(await ask(server, 'POST', '/v1/memories', { body: { userId, content, metadata } }), 201);
}

function withMetadata(...pairs: [key: string, value: string][]): string {
  const named = pairs.map(([key, value]): [string, string] => [`metadata[${key}]`, value]);
  return String(new URLSearchParams(named));
}

const contentsOf = (memories: Memory[]) => memories.map(({ content }) => content).sort();

describe('a list filtered by source and external id', async () => {
  const userId = 'by-source';
  await save(server, userId, 'saved');
  const types = ['document', 'document', 'event', 'profile'] as const;
  const data = { document: { text: 'd' }, event: { name: 'e' }, profile: { summary: 'p' } };
  for (const [index, type] of types.entries()) {
    const externalKey = { source: index % 2 === 0 ? 'crm' : 'CRM', externalId: `${index}` };
    await ingest(server, '/v1/ingest', { userId, type, ...externalKey, data: data[type] });
  }
  const ticket = { subject: 't', comments: [], priority: 'high' };
  await ingest(server, '/v1/ingest/support', { userId, externalId: '0', data: ticket });
  await save(server, 'someone else', 'saved');

  test.each([
    ['', ['d', 'd', 'e', 'p', 'saved', 't']],
    ['type=memory', ['saved']],
    ['type=document', ['d', 'd']],
    ['type=ticket', ['t']],
    ['type=conversation', []],
    ['source=crm', ['d', 'e']],
    ['source=CRM', ['d', 'p']],
    ['source=cr', []],
    ['source=null', []],
    ['externalId=0', ['d', 't']],
    ['externalId=0&source=crm', ['d']],
    ['externalId=0&source=CRM', []],
    ['type=document&source=crm', ['d']],
    ['type=document&source=crm&externalId=0', ['d']],
    ['type=event&source=crm&externalId=0', []],
    ['metadata[priority]=high', ['t']],
    ['metadata[priority]=high&type=ticket&externalId=0&order=asc', ['t']],
    ['metadata[priority]=high&type=document', []],
  ])('?%s', async (query, expected) => {
    const { items, nextCursor } = await getPage(server, userId, query);
    expect(contentsOf(items)).toEqual(expected);
    expect(nextCursor).toBeNull();
  });
});

const sample = {
  text: 'pro',
  digits: '5',
  number: 5,
  fraction: 1.5,
  big: 1e21,
  yes: true,
  no: false,
  nothing: null,
  list: ['a', 7, true, null, ['in'], { in: 1 }],
  empty: '',
  object: { inner: 'x', 'in.ner': 'y' },
  'a.b': 'dotted',
  'a]b[c': 'brackets',
  'a=b&c': 'marks',
  'ü 🧠': 'wide 🧠',
  quoted: '"\\ \' %_ \u2028',
};

describe('a list filtered by metadata', async () => {
  const userId = 'by-metadata';
  await saveWith(userId, 'sample', sample);
  await saveWith(userId, 'none', {});
  await saveWith(userId, 'other', { text: 'free', inner: 'x', key: 'text', value: 'pro' });
  const find = async (...pairs: [string, string][]) =>
    contentsOf((await getPage(server, userId, withMetadata(...pairs))).items);

  test.each<[key: string, ...values: string[]]>([
    ['text', 'pro'],
    ['digits', '5'],
    ['number', '5'],
    ['fraction', '1.5'],
    ['big', '1e+21'],
    ['yes', 'true'],
    ['no', 'false'],
    ['list', 'a', '7', 'true'],
    ['empty', ''],
    ['a.b', 'dotted'],
    ['a]b[c', 'brackets'],
    ['a=b&c', 'marks'],
    ['ü 🧠', 'wide 🧠'],
    ['quoted', sample.quoted],
  ])('matches %s=%s', async (key, ...values) => {
    for (const value of values) expect(await find([key, value])).toEqual(['sample']);
  });

  test.each<[key: string, ...values: string[]]>([
    ['text', 'Pro', 'pr', '', '"pro"', '%', 'p_o'],
    ['Text', 'pro'],
    ['number', '5.0', '05'],
    ['fraction', '1.50'],
    ['big', '1000000000000000000000'],
    ['yes', 'True', '1'],
    ['nothing', 'null', ''],
    ['absent', '', 'undefined'],
    ['list', 'null', 'in', 'a,7'],
    ['object', '{"inner":"x"}'],
    ['object.inner', 'x'],
    ['a', 'dotted'],
    ['__proto__', ''],
    ['constructor', 'Object'],
    ['toString', ''],
    ['length', '0'],
  ])('does not match %s=%s', async (key, ...values) => {
    for (const value of values) expect(await find([key, value])).toEqual([]);
  });

  test('requires all keys to match', async () => {
    expect(await find(['text', 'pro'], ['number', '5'], ['list', 'a'])).toEqual(['sample']);
    expect(await find(['text', 'pro'], ['inner', 'x'])).toEqual([]);
  });

  test('reflects an update of the metadata', async () => {
    const user = newUser();
    await saveWith(user, 'x', { plan: 'free' });
    const id = (await getPage(server, user)).items[0]?.id;
    const body = { content: 'x', metadata: { plan: 'pro' } };
    bodyOf(await ask(server, 'PATCH', `/v1/memories/${id}`, { body }), 200);
    expect((await getPage(server, user, 'metadata[plan]=free')).items).toEqual([]);
    expect((await getPage(server, user, 'metadata[plan]=pro')).items).toHaveLength(1);
  });
});

describe.each(['?', '/search?query=trip&'])('GET /v1/memories%s', async (path) => {
  const userId = newUser();
  const days = [
    '2026-04-30T23:59:59.999Z',
    '2026-05-01',
    '2026-05-15T10:00:00+02:00',
    '2026-06-01',
  ];
  for (const [index, occurredAt] of days.entries()) {
    await server.client.save({ userId, content: `trip ${index}`, occurredAt });
  }
  await server.client.save({ userId, content: 'trip now' });

  test.each([
    ['from=2026-05-01&to=2026-06-01', ['1', '2']],
    ['from=2026-05-01T00:00:00.001Z&to=2026-06-01T00:00:00.001Z', ['2', '3']],
    ['to=2026-05-01', ['0']],
    ['from=2026-05-15T08:00:00Z&to=2026-05-15T08:00:00.001Z', ['2']],
    ['from=2026-06-01&to=2026-06-01', []],
    ['from=2026-06-02', ['now']],
  ])('%s finds memories by occurredAt, or createdAt if there is none', async (query, expected) => {
    const answer = await ask(server, 'GET', `/v1/memories${path}userId=${userId}&${query}`);
    const { items } = bodyOf<{ items: Memory[] }>(answer, 200);
    expect(contentsOf(items)).toEqual(expected.map((name) => `trip ${name}`));
  });
});

test('a list and a search apply as many filters as fit into a URL', async () => {
  const userId = newUser();
  const metadata = Object.fromEntries(Array.from({ length: 700 }, (_, n) => [`${n}`, '']));
  await saveWith(userId, 'has them all', metadata);
  await saveWith(userId, 'has them all but the last', { ...metadata, 699: 'x' });
  // The filters are not percent-encoded, so more of them fit into the URL.
  const filters = Object.keys(metadata).map((key) => `metadata[${key}]=`);
  for (const of of ['', '/search']) {
    const query = `userId=${userId}&${of === '' ? '' : 'query=all&'}${filters.join('&')}`;
    const found = bodyOf<{ items: Memory[] }>(
      await ask(server, 'GET', `/v1/memories${of}?${query}`),
      200,
    );
    expect(contentsOf(found.items)).toEqual(['has them all']);
  }
});
