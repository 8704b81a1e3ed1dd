import { describe, expect, test } from 'bun:test';
import type { Memory } from '../../sdk/contract/memory.ts';
import { ask, bodyOf, importAll, ingest, newUser, save, whenComplete } from '../support/http.ts';
import { withProject } from '../support/server.ts';
import { importable } from '../support/writes.ts';

const server = await withProject();

async function saveWith(userId: string, name: string, metadata: object): Promise<void> {
  const body = { userId, content: `trip ${name}`, metadata };
  bodyOf(await ask(server, 'POST', '/v1/memories', { body }), 201);
}

function withMetadata(...pairs: [key: string, value: string][]): string {
  const named = pairs.map(([key, value]): [string, string] => [`metadata[${key}]`, value]);
  return String(new URLSearchParams(named));
}

const doors = ['?limit=100', '/search?query=trip&limit=100'];

/** Returns which memories a list or a search finds, by the names after `trip` in their contents. */
async function find(door: string, userId: string, query: string): Promise<string[]> {
  const path = `/v1/memories${door}&userId=${userId}&${query}`;
  const { items } = bodyOf<{ items: Memory[] }>(await ask(server, 'GET', path), 200);
  return items.map(({ content }) => content.slice('trip '.length)).sort();
}

describe.each(doors)('GET /v1/memories%s by source, external id and status', async (door) => {
  const userId = newUser();
  await saveWith(userId, 'saved', {});
  const types = ['document', 'document', 'event', 'profile'] as const;
  const [text, name, summary] = ['trip d', 'trip e', 'trip p'];
  const data = { document: { text }, event: { name }, profile: { summary } };
  const ids: string[] = [];
  for (const [index, type] of types.entries()) {
    const externalKey = { source: index % 2 === 0 ? 'crm' : 'CRM', externalId: `${index}` };
    const record = { userId, type, ...externalKey, data: data[type] };
    ids.push((await ingest(server, '/v1/ingest', record)).memoryId);
  }
  const ticket = { subject: 'trip t', comments: [], priority: 'high' };
  const record = { userId, externalId: '0', data: ticket };
  ids.push((await ingest(server, '/v1/ingest/support', record)).memoryId);
  const lost = { ...importable(userId), id: `mem_lost_${userId}`, content: 'trip lost' };
  await importAll(server, [{ ...lost, type: 'profile', status: 'failed', source: null }]);
  await saveWith(newUser(), 'of someone else', {});
  for (const id of ids) await whenComplete(server, id);
  const isList = door === doors[0];

  test.each([
    ['', ['d', 'd', 'e', 'p', 'saved', 't', ...(isList ? ['lost'] : [])].sort()],
    ['status=complete', ['d', 'd', 'e', 'p', 'saved', 't']],
    ['status=failed', isList ? ['lost'] : []],
    ['status=processing', []],
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
    ['metadata[priority]=high&type=ticket&externalId=0', ['t']],
    ['metadata[priority]=high&type=document', []],
  ])('%s', async (query, expected) => {
    expect(await find(door, userId, query)).toEqual(expected);
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

describe.each(doors)('GET /v1/memories%s by metadata', async (door) => {
  const userId = newUser();
  await saveWith(userId, 'sample', sample);
  await saveWith(userId, 'none', {});
  await saveWith(userId, 'other', { text: 'free', inner: 'x', key: 'text', value: 'pro' });
  const findWith = (...pairs: [string, string][]) => find(door, userId, withMetadata(...pairs));

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
    for (const value of values) expect(await findWith([key, value])).toEqual(['sample']);
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
    for (const value of values) expect(await findWith([key, value])).toEqual([]);
  });

  test('requires all keys to match', async () => {
    expect(await findWith(['text', 'pro'], ['number', '5'], ['list', 'a'])).toEqual(['sample']);
    expect(await findWith(['text', 'pro'], ['inner', 'x'])).toEqual([]);
  });

  test('reflects an update of the metadata', async () => {
    const user = newUser();
    const { id } = await save(server, user, 'trip changed');
    await server.client.update(id, { metadata: { plan: 'free' } });
    expect(await find(door, user, 'metadata[plan]=free')).toEqual(['changed']);
    await server.client.update(id, { metadata: { plan: 'pro' } });
    expect(await find(door, user, 'metadata[plan]=free')).toEqual([]);
    expect(await find(door, user, 'metadata[plan]=pro')).toEqual(['changed']);
  });

  test('applies as many filters as fit into a URL', async () => {
    const user = newUser();
    const metadata = Object.fromEntries(Array.from({ length: 700 }, (_, n) => [`${n}`, '']));
    await saveWith(user, 'with all', metadata);
    await saveWith(user, 'with all but the last', { ...metadata, 699: 'x' });
    // The filters are not percent-encoded, so more of them fit into the URL.
    const filters = Object.keys(metadata).map((key) => `metadata[${key}]=`);
    expect(await find(door, user, filters.join('&'))).toEqual(['with all']);
  });
});

describe.each(doors)('GET /v1/memories%s by time', async (door) => {
  const userId = newUser();
  const may = ['2026-05-01', '2026-05-15T10:00:00+02:00'];
  const times = ['2026-04-30T23:59:59.999Z', ...may, '2026-06-01'];
  for (const [index, occurredAt] of times.entries()) {
    await server.client.save({ userId, content: `trip ${index}`, occurredAt });
  }
  await saveWith(userId, 'now', {});

  test.each([
    ['from=2026-05-01&to=2026-06-01', ['1', '2']],
    ['from=2026-05-01T00:00:00.001Z&to=2026-06-01T00:00:00.001Z', ['2', '3']],
    ['to=2026-05-01', ['0']],
    ['from=2026-05-15T08:00:00Z&to=2026-05-15T08:00:00.001Z', ['2']],
    ['from=2026-06-01&to=2026-06-01', []],
    ['from=2026-06-02', ['now']],
  ])('%s finds memories by occurredAt, or createdAt if there is none', async (query, expected) => {
    expect(await find(door, userId, query)).toEqual(expected);
  });
});
