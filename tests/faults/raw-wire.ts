/**
 * A request as bytes on the wire. The request must not cause a hang or a 5xx response, except 505
 * for an unsupported HTTP version.
 */
export type RawCase = {
  name: string;
  parts: (string | Uint8Array)[];
  /** The pause between two parts. */
  pauseMs?: number;
  /** The permitted statuses. Null means that the connection was closed without a response. */
  expect?: (number | null)[];
};

/** Returns functions that build requests authenticated with the key. */
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
