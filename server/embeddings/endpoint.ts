import { isSameVector, probe } from './calibration.ts';
import { type EmbeddingModel, ModelError, type Priority } from './model.ts';

/** An endpoint of OpenAI's shape: `POST {url}/embeddings`. */
export type Endpoint = { url: string; model: string; key: string | null };

/** How long a request may take. A question that waits longer is searched by words alone. */
const timeoutMs = { question: 1_000, urgent: 1_000, background: 60_000 };
/** How many texts a request has, beside the probe. Text Embeddings Inference accepts 32 in all. */
const batch = 31;
/** The status of a proxy that has waited too long for the endpoint. */
const gatewayTimeout = 504;
const maxRetryAfterMs = 10 * 60_000;
/** The statuses of a rejected request, for example because a text is too long. */
const rejections = [400, 413, 422];
/** llama.cpp rejects a text that is too long with 500, which may have any other cause. */
const unclear = 500;
/** How often a text must be rejected with this status. */
const triesIfUnclear = 3;

/** The endpoint asked not to be called before this time. A thread has only one endpoint. */
let quietUntil = 0;

/**
 * Opens the endpoint. Every request begins with the probe, so that vectors of another model that
 * the endpoint serves under the same name are noticed before they are used.
 */
export async function openEndpoint(
  endpoint: Endpoint,
  withinMs = timeoutMs,
): Promise<EmbeddingModel> {
  const ask = (texts: readonly string[], priority: Priority) =>
    request(endpoint, [probe, ...texts], withinMs[priority]);
  const [first = []] = await ask([], 'background');
  const expected = unitVector(first);
  /** How many texts a request has. A slow endpoint cannot embed a whole batch in time. */
  let atOnce = batch;

  async function embedSome(texts: readonly string[], priority: Priority) {
    const answer = await ask(texts, priority);
    const [found = expected, ...vectors] = answer.map(unitVector);
    const isSameLength = answer.every(({ length }) => length === first.length);
    if (!isSameLength || !isSameVector(found, expected)) {
      throw new ModelError('the embeddings endpoint answers with vectors of another model', {
        isOtherModel: true,
      });
    }
    return vectors;
  }

  /** A text that the endpoint rejects, although it accepts the probe, has no vector. */
  async function embedAccepted(
    texts: readonly string[],
    priority: Priority,
    tries = triesIfUnclear,
  ): Promise<(Float32Array | null)[]> {
    try {
      return await embedSome(texts, priority);
    } catch (error) {
      if (!(error instanceof ModelError) || error.rejection === null) throw error;
      if (texts.length === 0) throw error;
      if (texts.length === 1) {
        await embedSome([], priority);
        const isClear = error.rejection === 'clear' || tries === 1;
        return isClear ? [null] : embedAccepted(texts, priority, tries - 1);
      }
      const middle = Math.ceil(texts.length / 2);
      const first = await embedAccepted(texts.slice(0, middle), priority);
      return [...first, ...(await embedAccepted(texts.slice(middle), priority))];
    }
  }

  return {
    name: endpoint.model,
    digest: `${endpoint.url} ${endpoint.model}`,
    dims: expected.length,
    textsAtOnce: batch,
    unrelated: null,
    fluency: () => 1,
    async embed(texts, priority) {
      const vectors: (Float32Array | null)[] = [];
      while (vectors.length < texts.length) {
        const some = texts.slice(vectors.length, vectors.length + atOnce);
        try {
          vectors.push(...(await embedAccepted(some, priority)));
        } catch (error) {
          const isLate = error instanceof ModelError && error.isLate;
          if (!isLate || priority !== 'background' || some.length === 1) throw error;
          atOnce = Math.ceil(some.length / 2);
        }
      }
      if (priority === 'background') atOnce = Math.min(batch, atOnce + 1);
      return vectors;
    },
  };
}

async function request(
  { url, model, key }: Endpoint,
  input: readonly string[],
  withinMs: number,
): Promise<number[][]> {
  const quietMs = quietUntil - performance.now();
  if (quietMs > 0) {
    throw new ModelError('the embeddings endpoint asked to wait', { retryAfterMs: quietMs });
  }
  const headers = {
    'content-type': 'application/json',
    ...(key !== null && { authorization: `Bearer ${key}` }),
  };
  const body = JSON.stringify({ model, input, encoding_format: 'float' });
  const signal = AbortSignal.timeout(withinMs);
  try {
    const response = await fetch(`${url}/embeddings`, {
      method: 'POST',
      headers,
      body,
      signal,
      redirect: 'error',
    });
    if (!response.ok) throw refused(response);
    return vectorsIn(await response.json(), input.length);
  } catch (error) {
    if (error instanceof ModelError) throw error;
    const isLate = error instanceof Error && error.name === 'TimeoutError';
    const reason = isLate ? 'timed out' : error instanceof Error ? error.message : 'unknown error';
    throw new ModelError(`the embeddings endpoint does not answer: ${reason}`, { isLate });
  }
}

function refused({ status, headers }: Response): ModelError {
  const retryAfterMs = retryAfterOf(headers.get('retry-after') ?? '');
  // Another request may have been asked to wait for longer.
  quietUntil = Math.max(quietUntil, performance.now() + retryAfterMs);
  const message = `the embeddings endpoint answered with the status ${status}`;
  const rejection = rejections.includes(status) ? 'clear' : status === unclear ? 'unclear' : null;
  return new ModelError(message, { retryAfterMs, rejection, isLate: status === gatewayTimeout });
}

/** Reads a number of seconds or a date. Returns 0 for anything else. */
function retryAfterOf(text: string): number {
  const seconds = Number(text);
  const ms = Number.isNaN(seconds) ? Date.parse(text) - Date.now() : seconds * 1_000;
  return ms > 0 ? Math.min(ms, maxRetryAfterMs) : 0;
}

/** The answer may hold anything, so that everything is checked. */
function vectorsIn(answer: unknown, count: number): number[][] {
  const data = (answer as { data?: unknown } | null)?.data;
  if (!Array.isArray(data) || data.length !== count) {
    throw new ModelError(`the embeddings endpoint did not answer with ${count} vectors`);
  }
  const vectors: number[][] = [];
  for (const [at, { index = at, embedding }] of data.entries()) {
    if (!Array.isArray(embedding) || !embedding.every(Number.isFinite) || !(index < count)) {
      throw new ModelError('the embeddings endpoint answered with something else than numbers');
    }
    vectors[index] = embedding;
  }
  const [first] = vectors;
  if (first === undefined || first.length === 0 || Object.keys(vectors).length !== count) {
    throw new ModelError('the embeddings endpoint left out a vector');
  }
  return vectors;
}

/** Scales the vector to length 1, and pads it to a multiple of 8 numbers. */
function unitVector(values: readonly number[]): Float32Array {
  const length = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
  const vector = new Float32Array(Math.ceil(values.length / 8) * 8);
  if (length > 0) vector.set(values.map((value) => value / length));
  return vector;
}
