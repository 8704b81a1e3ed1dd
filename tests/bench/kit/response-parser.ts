/** Finds the end of each HTTP response on a connection without pipelining. */
export type ResponseParser = {
  /** Adds received bytes. Returns the response once it is complete, and null before that. */
  take(chunk: Buffer): ParsedResponse | null;
};

/** `body` is empty unless the parser was created with `keepBody`. */
export type ParsedResponse = { status: number; head: string; body: string };

export function createResponseParser({ keepBody = false } = {}): ResponseParser {
  let pending: Buffer | null = null;
  let head = '';
  let missing = 0;
  let kept: Buffer[] = [];

  function begin(chunk: Buffer): ParsedResponse | null {
    const bytes = pending === null ? chunk : Buffer.concat([pending, chunk]);
    const end = bytes.indexOf('\r\n\r\n');
    pending = end < 0 ? bytes : null;
    if (end < 0) return null;
    head = bytes.toString('latin1', 0, end);
    const body = bytes.subarray(end + 4);
    missing = lengthIn(head) - body.length;
    if (keepBody) kept = [body];
    return missing > 0 ? null : finish();
  }

  function finish(): ParsedResponse {
    const body = keepBody ? Buffer.concat(kept).toString() : '';
    return { status: Number(head.slice(9, 12)), head, body };
  }

  return {
    take(chunk) {
      if (missing === 0) return begin(chunk);
      missing -= chunk.length;
      if (keepBody) kept.push(chunk);
      return missing > 0 ? null : finish();
    },
  };
}

function lengthIn(head: string): number {
  const [, digits] = /\r\ncontent-length: (\d+)/i.exec(head) ?? [];
  if (digits === undefined) throw new Error(`a response without Content-Length: ${head}`);
  return Number(digits);
}
