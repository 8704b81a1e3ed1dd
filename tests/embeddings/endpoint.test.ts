import { expect, test } from 'bun:test';
import { openEndpoint } from '../../server/embeddings/endpoint.ts';
import { ModelError } from '../../server/embeddings/model.ts';
import { faults, startEndpoint } from '../support/embeddings-endpoint.ts';
import { rejectionOf } from '../support/thrown.ts';
import { until } from '../support/until.ts';

/* The client of an endpoint, without a server. tests/http/meaning-endpoint has the searches. */

test('a request has at most 32 texts, because some endpoints accept no more', async () => {
  await using endpoint = startEndpoint();
  const model = await openEndpoint({ url: endpoint.url, model: 'first', key: null });
  const texts = Array.from({ length: 64 }, (_, at) => `text ${at}`);
  expect(await model.embed(texts, 'background')).toHaveLength(64);
  expect(endpoint.requests.map(({ input }) => input.length)).toEqual([1, 32, 32, 3]);
});

const tooLate = {
  'does not answer': () => new Promise<Response>(() => {}),
  'answers 504': () => new Response(null, { status: 504 }),
};

test.each(Object.entries(tooLate))(
  'an endpoint that %s to many texts gets fewer',
  async (_, late) => {
    await using endpoint = startEndpoint();
    endpoint.fault = ({ input }) => (input.length > 6 ? late() : null);
    const given = { url: endpoint.url, model: 'first', key: null };
    const model = await openEndpoint(given, { question: 1_000, urgent: 1_000, background: 1_000 });
    const texts = Array.from({ length: 12 }, (_, at) => `text ${at}`);
    expect(await model.embed(texts, 'background')).toHaveLength(12);
    expect(await model.embed(texts, 'background')).toHaveLength(12);
    const lengths = endpoint.requests.map(({ input }) => input.length);
    expect(lengths).toEqual([1, 13, 7, 4, 4, 4, 4, 5, 5, 5]);
  },
);

const askToWait = 'answers 429 and when to return';
const names = Object.keys(faults).filter((name) => name !== askToWait);

test.each(names)('an endpoint that %s fails the request, and no vector is used', async (name) => {
  await using endpoint = startEndpoint();
  const model = await openEndpoint({ url: endpoint.url, model: 'first', key: null });
  expect(await model.embed(['which car?', 'what food?'], 'question')).toHaveLength(2);
  endpoint.fault = faults[name] ?? null;
  const error = await rejectionOf(model.embed(['which car?'], 'question'));
  expect(error).toBeInstanceOf(ModelError);
  expect(error.message).not.toContain('sk-secret');
  expect(error).toMatchObject({
    retryAfterMs: 0,
    isOtherModel: name === 'answers with one vector for all texts' || name.includes('63 numbers'),
  });
  endpoint.fault = null;
  expect(await model.embed(['which car?'], 'question')).toHaveLength(1);
});

// After this test, this process sends no more requests to any endpoint.
test('an endpoint that asks to wait is left alone, even if another request fails later', async () => {
  await using endpoint = startEndpoint();
  const model = await openEndpoint({ url: endpoint.url, model: 'first', key: null });
  const released = Promise.withResolvers<Response>();
  const refuse = faults[askToWait] ?? (() => null);
  endpoint.fault = (sent) => (sent.input.includes('slow') ? released.promise : refuse(sent));
  const slow = rejectionOf(model.embed(['slow'], 'question'));
  await until(() => endpoint.requests.some(({ input }) => input.includes('slow')));
  const error = await rejectionOf(model.embed(['what food?'], 'question'));
  // The service waits for at most ten minutes.
  expect(error).toMatchObject({ retryAfterMs: 600_000, isOtherModel: false });
  released.resolve(new Response(null, { status: 503 }));
  await slow;
  endpoint.fault = null;
  const again = await rejectionOf(model.embed(['which car?'], 'question'));
  expect(again.message).toBe('the embeddings endpoint asked to wait');
});
