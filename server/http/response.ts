import * as headers from '../../sdk/contract/headers.ts';
import { isLowSurrogate } from '../search/scripts.ts';
import type { ItemsJson, Page, WriteResult } from '../storage/types/memories.ts';
import { createAdmission } from '../threads/admission.ts';
import { yieldToEventLoop } from '../threads/event-loop.ts';
import { countTexts } from '../threads/garbage.ts';
import { etagOf } from './conditions.ts';
import { writeCursor } from './cursor.ts';

/**
 * The part of Elysia's context that describes the response. A handler must destructure the fields
 * it uses: Elysia analyzes the handler's source, and would parse the cookies, query and headers of
 * every request if the handler passed on the whole context.
 */
export type ResponseHead = { status?: number | string; headers: Record<string, string | number> };

export function sendJson(set: ResponseHead, status: number, body: string): string {
  set.status = status;
  set.headers['content-type'] = 'application/json';
  return body;
}

/** Tells caches that the response depends on the request's Accept header. */
export function varyByAccept({ headers }: ResponseHead): void {
  headers.vary = headers.vary === undefined ? 'Accept' : `${headers.vary}, Accept`;
}

/** Whose share of the large responses counts. */
type Recipient = { projectId: number };

export type Sender = ReturnType<typeof createSender>;

/**
 * The limits on the large responses that clients have not read yet, in UTF-16 units. Each stays in
 * memory until it has been sent, or the connection has been idle for too long.
 */
const unsent = {
  running: { total: 128 * 1024 * 1024, project: 64 * 1024 * 1024 },
  waiting: { total: 64 * 1024 * 1024, project: 32 * 1024 * 1024 },
  maxWaitMs: 10_000,
};
const notRead =
  'too many large responses have not been read by their clients; read them, or ask for less at once';

/** Sends responses that may be large. */
export function createSender() {
  const admission = createAdmission(unsent, notRead);

  async function sendSlices(
    set: ResponseHead,
    { projectId }: Recipient,
    pieces: readonly string[],
    size: number,
  ): Promise<Response> {
    countTexts(pieces);
    const end = await admission.admit({ projectId, size, waitingSize: size });
    set.status = 200;
    return new Response(streamOf(slicesOf(pieces), end), {
      headers: { 'content-type': 'application/json' },
    });
  }

  /** Sends a body in slices if it is large. Throws `unavailable`. */
  function pieces(set: ResponseHead, recipient: Recipient, parts: readonly string[]) {
    const units = parts.reduce((sum, { length }) => sum + length, 0);
    if (units <= sliceUnits) return sendJson(set, 200, parts.join(''));
    return sendSlices(set, recipient, parts, units);
  }

  /** Sends `{"items":…}`, with `rest` after the items. */
  function items(set: ResponseHead, recipient: Recipient, found: ItemsJson, rest: string) {
    return pieces(set, recipient, ['{"items":', ...found, `${rest}}`]);
  }

  /** Sends a page of a list, with the cursor for the next page. `list` is as in `writeCursor`. */
  function page(set: ResponseHead, recipient: Recipient, found: Page, list: readonly string[]) {
    const nextCursor = found.next === null ? null : writeCursor(found.next, list);
    return items(set, recipient, found.items, `,"nextCursor":${JSON.stringify(nextCursor)}`);
  }

  return { page, items, pieces };
}

/** The length of a slice, in UTF-16 units. */
const sliceUnits = 256 * 1024;

function* slicesOf(pieces: readonly string[]): Generator<string> {
  for (const piece of pieces) {
    // mutate-ignore boundary: an empty slice
    for (let begin = 0; begin < piece.length; ) {
      const end = begin + sliceUnits;
      // A surrogate pair must be encoded as a whole.
      const next = isLowSurrogate(piece.charCodeAt(end)) ? end + 1 : end;
      yield piece.slice(begin, next);
      begin = next;
    }
  }
}

const encoder = new TextEncoder();

/**
 * Streams the slices and yields between them, because encoding megabytes at once would delay other
 * requests. Calls `end` when all slices have been sent, or the client has gone.
 */
function streamOf(slices: Iterator<string>, end: () => void): ReadableStream<Uint8Array> {
  let isOver = false;
  function finish(): void {
    if (!isOver) end();
    isOver = true;
  }
  return new ReadableStream({
    async pull(controller) {
      await yieldToEventLoop();
      for (let units = 0; units < sliceUnits && !isOver; ) {
        const { done, value } = slices.next();
        if (done) {
          finish();
          return controller.close();
        }
        controller.enqueue(encoder.encode(value));
        units += value.length;
      }
    },
    cancel: finish,
  });
}

/** Sends the response to a write. A header reports whether the response is a replay. */
export function sendResult(
  set: ResponseHead,
  request: Request,
  { response, replayed }: WriteResult,
): string | null {
  if (request.headers.has(headers.idempotencyKey)) {
    set.headers[headers.idempotencyStatus] = replayed ? 'replayed' : 'created';
  }
  if (response.version !== null) set.headers.etag = etagOf(response.version);
  if (response.body !== '') return sendJson(set, response.status, response.body);
  set.status = response.status;
  return null; // mutate-ignore result: an empty body either way
}
