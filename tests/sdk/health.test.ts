import { expect, test } from 'bun:test';
import { ServerError, TimeoutError } from '../../sdk/index.ts';
import { dropped, html, json, silent, startFaultServer } from '../support/fault-server.ts';
import { clientOf, failure } from './client-of.ts';

const ok = {
  status: 'ok',
  version: '1',
  storage: 'sqlite',
  pending: 0,
  oldestPendingSeconds: null,
  embeddings: { model: null, pending: 0 },
};

test('health() returns the status of a failing service without retries', async () => {
  const failing = { ...ok, status: 'failing' as const, message: 'the database does not respond' };
  using server = startFaultServer(json(503, failing));
  const { data, response } = await clientOf(server).health().withResponse();
  expect(data).toMatchObject(failing);
  expect(response.status).toBe(503);
  expect(server.requests).toHaveLength(1);
});

test('health() retries only connection errors', async () => {
  using server = startFaultServer(dropped(), dropped(), json(200, ok));
  expect(await clientOf(server).health()).toMatchObject({ status: 'ok' });
  expect(server.requests).toHaveLength(3);
});

test('health() does not accept a response from a proxy', async () => {
  for (const reply of [html(503), json(503, { status: 503, message: 'no upstream' }), html(200)]) {
    using server = startFaultServer(reply);
    expect(await failure(clientOf(server).health())).toBeInstanceOf(ServerError);
    expect(server.requests).toHaveLength(1);
  }
});

test('health() does not retry after a timeout', async () => {
  using server = startFaultServer(silent());
  expect(await failure(clientOf(server).health({ timeoutMs: 20 }))).toBeInstanceOf(TimeoutError);
  expect(server.requests).toHaveLength(1);
});

test('health() rejects an error response from a proxy, even if the body has a status', async () => {
  using server = startFaultServer(json(502, { status: 502, error: 'Bad Gateway' }));
  const error = await failure(clientOf(server).health());
  expect(error).toBeInstanceOf(ServerError);
  expect(error).toMatchObject({ status: 502, attempts: 1 });
});
