import { textOf, userOf } from './rows.ts';

/** The key of every server under test, for the project `default`. */
export const benchKey = 'bench-key-0123456789abcdef';

const pooled = 4_096;
const contentBytes = 100;
const keyDigits = 12;

/** A request as bytes; `headers` are further lines. */
export function requestBytes(
  method: string,
  path: string,
  body?: unknown,
  headers: string[] = [],
): Uint8Array {
  const json = body === undefined ? '' : JSON.stringify(body);
  const ofBody =
    body === undefined
      ? []
      : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(json)}`];
  const usual = ['Host: 127.0.0.1', `Authorization: Bearer ${benchKey}`];
  const lines = [`${method} ${path} HTTP/1.1`, ...usual, ...ofBody, ...headers];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${json}`);
}

/** Saves of about 100 bytes for users of whom a few own most; made beforehand and sent again. */
export function saves(): () => Uint8Array {
  return cycle((at) => requestBytes('POST', '/v1/memories', saveBody(at)));
}

/** The same, each with an idempotency key that was never used. */
export function keyedSaves(): () => Uint8Array {
  const place = Buffer.from(`${crypto.randomUUID()}/${'0'.repeat(keyDigits)}`);
  const line = [`Idempotency-Key: ${place.toString()}`];
  const next = cycle((at) => requestBytes('POST', '/v1/memories', saveBody(at), line));
  let sent = 0;
  return () => {
    // Only the number changes, so that a key costs the generator almost nothing.
    const bytes = Buffer.from(next());
    const end = bytes.indexOf(place.subarray(0, -keyDigits)) + place.length;
    sent += 1;
    bytes.write(String(sent).padStart(keyDigits, '0'), end - keyDigits, 'latin1');
    return bytes;
  };
}

export function gets(paths: readonly string[]): () => Uint8Array {
  const requests = paths.map((path) => requestBytes('GET', path));
  return cycle((at) => requests[at % requests.length] ?? new Uint8Array(), requests.length);
}

/** The names in a query, each letter of which may be written as it is or percent-encoded. */
const spellable = /(?<=[?&])(?:userId|limit)(?==)/g;

/**
 * The same as `gets`, for lists that the service has to read: it answers a page that it is asked
 * for again from memory, and knows it by its query as it is written. No two of these in a few
 * thousand are written the same.
 */
export function getsAnew(paths: readonly string[]): () => Uint8Array {
  let sent = 0;
  return () => {
    const path = paths[sent % paths.length] ?? '';
    const request = requestBytes('GET', spelled(path, Math.floor(sent / paths.length)));
    sent += 1;
    return request;
  };
}

/** The bits of `way` say which letters of the names are percent-encoded. */
function spelled(path: string, way: number): string {
  let rest = way;
  return path.replace(spellable, (name) =>
    [...name]
      .map((letter) => {
        const isEncoded = rest % 2 === 1;
        rest = Math.floor(rest / 2);
        return isEncoded ? `%${letter.charCodeAt(0).toString(16)}` : letter;
      })
      .join(''),
  );
}

/** `count` records in one batch, for as many users as `saves` has. */
export function batchBody(from: number, count: number) {
  const items = Array.from({ length: count }, (_, index) => ({
    type: 'document',
    userId: userOf(from + index),
    data: { text: textOf(from + index, contentBytes) },
  }));
  return { items };
}

export function saveBody(at: number) {
  return { userId: userOf(at + 100_000), content: textOf(at, contentBytes) };
}

function cycle(make: (at: number) => Uint8Array, size = pooled): () => Uint8Array {
  const made = Array.from({ length: size }, (_, at) => make(at));
  let at = 0;
  return () => {
    at = (at + 1) % size;
    return made[at] ?? new Uint8Array();
  };
}
