/** Finds the end of each HTTP response on a connection without pipelining. */
export type ResponseParser = {
  /** Adds received bytes. Returns the response once it is complete, and null before that. */
  parse(chunk: Buffer): ParsedResponse | null;
};

export type ParsedResponse = { status: number; head: string };

export function createResponseParser(): ResponseParser {
  let pending: Buffer | null = null;
  let head = '';
  let body: Body | null = null;

  function begin(chunk: Buffer): Buffer | null {
    const bytes = pending === null ? chunk : Buffer.concat([pending, chunk]);
    const end = bytes.indexOf('\r\n\r\n');
    pending = end < 0 ? bytes : null;
    if (end < 0) return null;
    head = bytes.toString('latin1', 0, end);
    body = bodyOf(head);
    return bytes.subarray(end + 4);
  }

  return {
    parse(chunk) {
      const bytes = body === null ? begin(chunk) : chunk;
      if (bytes === null || !body?.append(bytes)) return null;
      body = null;
      return { status: Number(head.slice(9, 12)), head };
    },
  };
}

/** `append` adds received bytes and returns whether the body is complete. */
type Body = { append(bytes: Buffer): boolean };

function bodyOf(head: string): Body {
  if (/\r\ntransfer-encoding: chunked/i.test(head)) return chunkedBody();
  const [, digits] = /\r\ncontent-length: (\d+)/i.exec(head) ?? [];
  if (digits === undefined) throw new Error(`the response has no Content-Length: ${head}`);
  let missing = Number(digits);
  return {
    append(bytes) {
      missing -= bytes.length;
      return missing <= 0;
    },
  };
}

/** A body of chunks: a line with the size in hexadecimal, that many bytes, and a line break. */
function chunkedBody(): Body {
  let line = '';
  let missing = 0;
  let isLast = false;
  return {
    append(bytes) {
      let at = 0;
      while (at < bytes.length) {
        if (missing > 0) {
          const taken = Math.min(missing, bytes.length - at);
          missing -= taken;
          at += taken;
          if (isLast && missing === 0) return true;
          continue;
        }
        line += String.fromCharCode(bytes[at] ?? 0);
        at += 1;
        if (!line.endsWith('\r\n')) continue;
        // The line break after the chunk belongs to it.
        missing = Number.parseInt(line, 16) + 2;
        isLast = missing === 2;
        line = '';
      }
      return false;
    },
  };
}
