import { describe, expect, test } from 'bun:test';
import { type Answer, ask, expectInvalid } from '../support/http.ts';
import { astral, badOptionalTexts, metadataOfBytes } from '../support/inputs.ts';
import { withProject } from '../support/server.ts';

const server = await withProject();

/**
 * The endpoints that accept a timeline, and the field that holds it. Entries in `messages` may have
 * a null author or role.
 */
const endpoints = [
  ['/v1/ingest/support', 'comments'],
  ['/v1/ingest/chat', 'messages'],
] as const;

function sendTimeline(path: string, timeline: string, entries: unknown[]): Promise<Answer> {
  const subject = timeline === 'comments' ? { subject: 'S' } : {};
  const body = { userId: 'someone', data: { ...subject, [timeline]: entries } };
  return ask(server, 'POST', path, { body });
}

const entry = { author: 'user', content: 'Help' };

describe.each(endpoints)('an entry at POST %s', (path, timeline) => {
  const first = `data.${timeline}.0`;
  const sendEntry = (value: object) => sendTimeline(path, timeline, [value]);

  test.each(['author', 'role'])('returns 400 if its %s is not a label', async (speaker) => {
    for (const [, label] of badOptionalTexts(100)) {
      if (label === null && timeline === 'messages') continue;
      expectInvalid(await sendEntry({ [speaker]: label, content: 'x' }), `${first}.${speaker}`);
    }
  });

  test('returns 202 with both author and role, or none, or empty ones', async () => {
    for (const labels of [{ author: 'a', role: 'b' }, {}, { author: '', role: '' }]) {
      expect((await sendEntry({ ...labels, content: 'x' })).status).toBe(202);
    }
  });

  test.each(['author', 'role'])('returns 202 with 100 characters of %s', async (speaker) => {
    for (const label of ['x'.repeat(100), astral.repeat(100)]) {
      expect((await sendEntry({ [speaker]: label, content: 'x' })).status).toBe(202);
    }
  });

  test('returns 202 with 1,000 entries and 400 with 1,001', async () => {
    const entries = Array(1_000).fill(entry);
    expect((await sendTimeline(path, timeline, entries)).status).toBe(202);
    expectInvalid(await sendTimeline(path, timeline, [...entries, entry]), `data.${timeline}`);
  });
});

describe('the limit on metadata includes the descriptive fields', () => {
  function sendTitled(metadataBytes: number): Promise<Answer> {
    const metadata = metadataOfBytes(metadataBytes - ',"title":"T"'.length);
    const body = { userId: 'someone', metadata, data: { text: 'x', title: 'T' } };
    return ask(server, 'POST', '/v1/ingest/document', { body });
  }

  test('returns 202 if all metadata is exactly at the limit', async () => {
    expect((await sendTitled(16_384)).status).toBe(202);
  });

  test('returns 400 if all metadata is over the limit', async () => {
    expectInvalid(await sendTitled(16_385), 'metadata');
  });
});
