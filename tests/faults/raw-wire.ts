/**
 * A request as bytes on the wire. It must not cause a 5xx, a hang, or an error response from the
 * service that lacks a message.
 */
export type RawCase = {
  name: string;
  parts: (string | Uint8Array)[];
  /** The pause between two parts. */
  pauseMs?: number;
  /** The permitted statuses; null is a closed connection. By default, any status below 500. */
  expect?: (number | null)[];
};

/** Builds requests that are authenticated with the key. */
export function createWire(key: string) {
  const auth = `Authorization: Bearer ${key}`;
  const json = 'Content-Type: application/json';
  const get = (path: string, ...headers: string[]) =>
    lines(`GET ${path} HTTP/1.1`, 'Host: localhost', auth, ...headers);
  const post = (body: string | Uint8Array, ...headers: string[]): RawCase['parts'] => [
    lines(
      'POST /v1/memories HTTP/1.1',
      'Host: localhost',
      ...[auth, json, `Content-Length: ${Buffer.byteLength(body)}`, ...headers],
    ),
    body,
  ];
  const chunked = (...chunks: string[]): RawCase['parts'] => [
    lines(
      'POST /v1/memories HTTP/1.1',
      'Host: localhost',
      auth,
      json,
      'Transfer-Encoding: chunked',
    ),
    chunks.join(''),
  ];
  const item = (name: string, parts: RawCase['parts'], ...expect: (number | null)[]): RawCase =>
    expect.length === 0 ? { name, parts } : { name, parts, expect };
  return { auth, json, get, post, chunked, item };
}

export type Wire = ReturnType<typeof createWire>;

export const lines = (...text: string[]) => `${text.join('\r\n')}\r\n\r\n`;
