/*
 * An endpoint of OpenAI's shape. Its model knows a few topics: texts about the same topic have
 * similar vectors, and so do texts in the same language. Faults make it answer in other ways.
 */

type Input = { model: string; input: string[]; encoding_format: string };
/** Null for a correct answer. */
type Fault = (input: Input) => Response | null | Promise<Response | null>;

export type EmbeddingsEndpoint = ReturnType<typeof startEndpoint>;

const dims = 64;
const topics = [/peanut|food|avoid|еда/i, /toyota|car\b/i, /wedding|married/i];

export function startEndpoint() {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request): Promise<Response> {
      if (!request.url.endsWith('/v1/embeddings')) return new Response(null, { status: 404 });
      const input = (await request.json()) as Input;
      endpoint.requests.push({ ...input, authorization: request.headers.get('authorization') });
      await Bun.sleep(endpoint.delayMs(input));
      await endpoint.held;
      const right = () => answer(input.input.map((text) => vectorOf(text, endpoint.seed)));
      return (await endpoint.fault?.(input)) ?? right();
    },
  });
  const endpoint = {
    url: `http://127.0.0.1:${server.port}/v1`,
    /** All requests, with the key that was sent. */
    requests: [] as (Input & { authorization: string | null })[],
    /** Null for correct answers. */
    fault: null as Fault | null,
    /** How long the answer to a request takes. */
    delayMs: (_: Input) => 0,
    /** Answers wait for this. */
    held: null as Promise<void> | null,
    /** Models with different seeds have unrelated vectors. */
    seed: 0,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
  return endpoint;
}

export function answer(vectors: unknown[]): Response {
  const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }));
  return Response.json({ object: 'list', data });
}

/** The sum of a pseudo-random vector for each word, and of longer ones for language and topics. */
function vectorOf(text: string, seed: number): number[] {
  const vector = new Array<number>(dims).fill(0);
  const add = (name: string, length: number) => {
    let state = Number(Bun.hash(`${seed} ${name}`) % 2n ** 31n);
    for (let at = 0; at < dims; at += 1) {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      vector[at] = (vector[at] ?? 0) + length * (state / 2 ** 30 - 1);
    }
  };
  for (const word of text.toLowerCase().split(/\W+/)) add(word, 1);
  add(/\p{Script=Cyrillic}/u.test(text) ? 'Russian' : 'English', 8);
  for (const [at, topic] of topics.entries()) if (topic.test(text)) add(`topic ${at}`, 10);
  return vector;
}

const tomorrow = new Date(Date.now() + 86_400_000).toUTCString();

export const faults: Record<string, Fault> = {
  'does not answer': () => new Promise(() => {}),
  'answers 429 and when to return': () =>
    new Response(null, { status: 429, headers: { 'retry-after': tomorrow } }),
  'answers 400': () => new Response(null, { status: 400 }),
  'answers 429': () => new Response(null, { status: 429 }),
  'answers 500': () => new Response('{"error":"sk-secret"}', { status: 500 }),
  'answers with 63 numbers': ({ input }) =>
    answer(input.map((text, at) => vectorOf(text, 0).slice(0, at === 0 ? 64 : 63))),
  'answers with one vector for all texts': ({ input }) =>
    answer(input.map(() => new Array(64).fill(0.1))),
  'answers with a NaN': ({ input }) =>
    new Response(`{"data":[${input.map(() => '{"embedding":[NaN]}').join()}]}`),
  'answers with null for a number': ({ input }) =>
    answer(input.map((text) => [null, ...vectorOf(text, 0).slice(1)])),
  'answers with too few vectors': () => answer([vectorOf('one', 0)]),
  'answers with HTML': () =>
    new Response('<h1>Bad gateway</h1>', { headers: { 'content-type': 'text/html' } }),
};
