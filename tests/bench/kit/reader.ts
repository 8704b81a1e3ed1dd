/** Finds where an HTTP answer ends on a connection that carries one at a time. */
export type Reader = {
  /** The answer, once it is whole. */
  take(chunk: Buffer): Answer | null;
};

/** `body` is there only where the reader was asked to keep it. */
export type Answer = { status: number; head: string; body: string };

export function createReader({ keepBody = false } = {}): Reader {
  let held: Buffer | null = null;
  let head = '';
  let missing = 0;
  let kept: Buffer[] = [];

  function begin(chunk: Buffer): Answer | null {
    const bytes = held === null ? chunk : Buffer.concat([held, chunk]);
    const end = bytes.indexOf('\r\n\r\n');
    held = end < 0 ? bytes : null;
    if (end < 0) return null;
    head = bytes.toString('latin1', 0, end);
    const body = bytes.subarray(end + 4);
    missing = lengthIn(head) - body.length;
    if (keepBody) kept = [body];
    return missing > 0 ? null : finish();
  }

  function finish(): Answer {
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
  if (digits === undefined) throw new Error(`an answer without Content-Length: ${head}`);
  return Number(digits);
}
