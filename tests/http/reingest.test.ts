import { expect, test } from 'bun:test';
import type { Accepted, BatchAccepted } from '../../sdk/contract/ingest.ts';
import { ask, bodyOf, getMemory, getStatus, newUser, whenComplete } from '../support/http.ts';
import { withProject } from '../support/server.ts';

const server = await withProject();

const messages = [{ role: 'user', content: 'Hi', timestamp: '2026-05-08T10:00:00Z' }];

/** The requests that ingest records: the path, and the fields of a record. */
const doors: [path: string, fields: object][] = [
  ['/v1/ingest/support', { data: { subject: 'S', status: 'open', comments: messages } }],
  ['/v1/ingest/document', { data: { text: 'T', title: 'Title' } }],
  ['/v1/ingest/chat', { messages }],
  ['/v1/ingest', { type: 'profile', data: { summary: 'S', k: 1 } }],
  ['/v1/ingest/batch', { type: 'event', data: { name: 'n', k: [1] } }],
];

test.each(doors)(
  'ingesting the same record again with %s changes nothing',
  async (path, fields) => {
    const externalKey = { userId: newUser(), source: 's', externalId: 'e' };
    const times = { occurredAt: '2026-05-08', expiresAt: '2096-05-08' };
    const record = { ...externalKey, ...times, metadata: { a: 1, b: 2 }, ...fields };
    const isBatch = path.endsWith('/batch');
    const send = async (sent: object) => {
      const body = isBatch ? { items: [sent] } : sent;
      const answer = await ask(server, 'POST', path, { body });
      const { items: [item] = [], ...single } = bodyOf<Partial<BatchAccepted>>(answer, 202);
      return (isBatch ? item : single) as Accepted;
    };
    const { memoryId } = await send(record);
    const before = await whenComplete(server, memoryId);
    const status = await getStatus(server, memoryId);
    for (const same of [record, { ...record, metadata: { b: 2, a: 1 } }]) {
      expect(await send(same)).toMatchObject({ memoryId, status: 'complete' });
      expect(await getMemory(server, memoryId)).toEqual(before);
      expect(await getStatus(server, memoryId)).toEqual(status);
    }
    expect(await send({ ...record, metadata: { a: 1 } })).toMatchObject({ status: 'processing' });
    expect(await whenComplete(server, memoryId)).toMatchObject({ version: 2 });
  },
);
