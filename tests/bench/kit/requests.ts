import { textOf, userOf } from './dataset.ts';

/** The key of every server under test, for the project `default`. */
export const benchKey = 'bench-key-0123456789abcdef';

/** Returns the next request of a cycle as bytes. */
export type NextRequest = () => Uint8Array;

const pooled = 4_096;
const contentBytes = 100;
const keyDigits = 12;

type Options = { body?: unknown; headers?: string[]; key?: string };

/** Returns a request as bytes. `headers` are additional header lines. */
export function requestBytes(
  method: string,
  path: string,
  { body, headers = [], key = benchKey }: Options = {},
): Uint8Array {
  const json = body === undefined ? '' : JSON.stringify(body);
  const ofBody =
    body === undefined
      ? []
      : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(json)}`];
  const usual = ['Host: 127.0.0.1', `Authorization: Bearer ${key}`];
  const lines = [`${method} ${path} HTTP/1.1`, ...usual, ...ofBody, ...headers];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${json}`);
}

/** Returns a cycle of prebuilt saves of 100 bytes, most of them for a few users. */
export function saves(key = benchKey): NextRequest {
  return cycleOf(pooled, (at) => requestBytes('POST', '/v1/memories', { body: saveBody(at), key }));
}

/** Like `saves`, but each request has a new idempotency key. */
export function keyedSaves(): NextRequest {
  const placeholder = Buffer.from(`${crypto.randomUUID()}/${'0'.repeat(keyDigits)}`);
  const headers = [`Idempotency-Key: ${placeholder.toString()}`];
  const next = cycleOf(pooled, (at) =>
    requestBytes('POST', '/v1/memories', { body: saveBody(at), headers }),
  );
  let sent = 0;
  return () => {
    // Only the number in the key changes, so a new key costs the generator almost no CPU time.
    const bytes = Buffer.from(next());
    const end = bytes.indexOf(placeholder.subarray(0, -keyDigits)) + placeholder.length;
    sent += 1;
    bytes.write(String(sent).padStart(keyDigits, '0'), end - keyDigits, 'latin1');
    return bytes;
  };
}

export function gets(paths: readonly string[], key = benchKey): NextRequest {
  return cycleOf(paths.length, (at) => requestBytes('GET', paths[at] ?? '', { key }));
}

/**
 * Like `gets`, but the server must read each list from its database. The baseline caches pages by
 * the literal query string, so each request percent-encodes different letters of the parameter
 * names. A path with `userId` and `limit` has 2,048 spellings.
 */
export function uncachedGets(paths: readonly string[]): NextRequest {
  let sent = 0;
  return () => {
    const path = paths[sent % paths.length] ?? '';
    const request = requestBytes('GET', spelled(path, Math.floor(sent / paths.length)));
    sent += 1;
    return request;
  };
}

/** Percent-encodes the letters of the parameter names that the bits of `spelling` select. */
function spelled(path: string, spelling: number): string {
  let bit = 0.5;
  return path.replace(/(?<=[?&]\w*)\w(?=\w*=)/g, (letter) => {
    bit *= 2;
    return Math.floor(spelling / bit) % 2 === 1 ? `%${letter.charCodeAt(0).toString(16)}` : letter;
  });
}

/** Returns one batch of `count` records, most of them for a few users. */
export function batchBody(from: number, count: number) {
  const items = Array.from({ length: count }, (_, index) => ({
    type: 'document',
    userId: userOf(from + index),
    data: { text: textOf(from + index, contentBytes) },
  }));
  return { items };
}

export function batches(count: number, perBatch: number, key = benchKey): NextRequest {
  return cycleOf(count, (at) =>
    requestBytes('POST', '/v1/ingest/batch', { body: batchBody(at * perBatch, perBatch), key }),
  );
}

export function saveBody(at: number) {
  return { userId: userOf(at + 100_000), content: textOf(at, contentBytes) };
}

export function cycleOf(size: number, make: (at: number) => Uint8Array): NextRequest {
  const made = Array.from({ length: size }, (_, at) => make(at));
  let at = 0;
  return () => {
    at = (at + 1) % size;
    return made[at] ?? new Uint8Array();
  };
}

/** Merges several cycles into one that takes requests from each, round-robin. */
export function alternate(cycles: readonly NextRequest[]): NextRequest {
  let at = 0;
  return () => {
    at = (at + 1) % cycles.length;
    return cycles[at]?.() ?? new Uint8Array();
  };
}
