import { expect, test } from 'bun:test';
import { rowsOf } from '../support/rows.ts';
import { withProject } from '../support/server.ts';
import { sendKeyed } from '../support/writes.ts';

/* Fingerprints are stored for days, so a new version of the service must compute the same ones. */

const fingerprints = `SELECT key, fingerprint FROM idempotency_keys
  WHERE key IN ('printed-batch', 'printed-save') ORDER BY key`;

test('an upgrade does not change the fingerprint of a request', async () => {
  const server = await withProject();
  const metadata = { b: [1, true, null], a: 'x' };
  const save = { userId: 'u', content: 'café', metadata };
  const record = { userId: 'u', type: 'document', data: { text: 'T' } };
  const batch = { items: [record, record] };
  const sent = [
    await sendKeyed(server, { method: 'POST', path: '/v1/memories', body: save }, 'printed-save'),
    await sendKeyed(
      server,
      { method: 'POST', path: '/v1/ingest/batch', body: batch },
      'printed-batch',
    ),
  ];
  expect(sent.map(({ status }) => status)).toEqual([201, 202]);
  expect(await rowsOf(server.databaseUrl, fingerprints)).toEqual([
    { key: 'printed-batch', fingerprint: 'PHYQYeU3zU5ltIoWZbPQrVtChhBSBwqhFpyDPP_wWMw' },
    { key: 'printed-save', fingerprint: 'aN74knXywHDfk_X1KCpoNOdHo_syMWE8byGNnRF14Qk' },
  ]);
});
