/** Finds the end of each HTTP response on a connection without pipelining. */
export type ResponseParser = {
  /** Adds received bytes. Returns the response once it is complete, and null before that. */
  parse(chunk: Buffer): ParsedResponse | null;
};

/** `body` is empty unless the parser was created with `keepBody`. */
export type ParsedResponse = { status: number; head: string; body: string };

export function createResponseParser({ keepBody = false } = {}): ResponseParser {
  let pending: Buffer | null = null;
  let head = '';
  let body: Body | null = null;
  let kept: Buffer[] = [];

  function begin(chunk: Buffer): Buffer | null {
    const bytes = pending === null ? chunk : Buffer.concat([pending, chunk]);
    const end = bytes.indexOf('\r\n\r\n');
    pending = end < 0 ? bytes : null;
    if (end < 0) return null;
    head = bytes.toString('latin1', 0, end);
    body = bodyOf(head, (part) => {
      if (keepBody) kept.push(part);
    });
    return bytes.subarray(end + 4);
  }

  return {
    parse(chunk) {
      const bytes = body === null ? begin(chunk) : chunk;
      if (bytes === null || !body?.append(bytes)) return null;
      const text = Buffer.concat(kept).toString();
      body = null;
      kept = [];
      return { status: Number(head.slice(9, 12)), head, body: text };
    },
  };
}

type Keep = (part: Buffer) => void;

/** `append` adds received bytes and returns whether the body is complete. */
type Body = { append(bytes: Buffer): boolean };

function bodyOf(head: string, keep: Keep): Body {
  if (/\r\ntransfer-encoding: chunked/i.test(head)) return chunkedBody(keep);
  const [, digits] = /\r\ncontent-length: (\d+)/i.exec(head) ?? [];
  if (digits === undefined) throw new Error(`the response has no Content-Length: ${head}`);
  let missing = Number(digits);
  return {
    append(bytes) {
      keep(bytes);
      missing -= bytes.length;
      return missing <= 0;
    },
  };
}

/** A body of chunks: a line with the size in hexadecimal, that many bytes, and a line break. */
function chunkedBody(keep: Keep): Body {
  let line = '';
  let missing = 0;
  let isLast = false;
  return {
    append(bytes) {
      let at = 0;
      while (at < bytes.length) {
        if (missing > 0) {
          const part = bytes.subarray(at, at + missing);
          // The last two bytes are the line break after the chunk.
          keep(part.subarray(0, Math.max(0, missing - 2)));
          missing -= part.length;
          at += part.length;
          if (isLast && missing === 0) return true;
          continue;
        }
        line += String.fromCharCode(bytes[at] ?? 0);
        at += 1;
        if (!line.endsWith('\r\n')) continue;
        missing = Number.parseInt(line, 16) + 2;
        isLast = missing === 2;
        line = '';
      }
      return false;
    },
  };
}
