import { headers } from '../../sdk/contract/headers.ts';
import { isLowSurrogate } from '../search/scripts.ts';
import type { ItemsJson, Page, WriteResult } from '../storage/storage.ts';
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

/** Sends a page of a list, with the cursor for the next page. `list` is as in `writeCursor`. */
export function sendPage(set: ResponseHead, { items, next }: Page, list: readonly string[]) {
  const nextCursor = next === null ? null : writeCursor(next, list);
  return sendItems(set, items, `,"nextCursor":${JSON.stringify(nextCursor)}`);
}

/** Sends `{"items":…}`, with `rest` after the items. A large body is sent in slices. */
export function sendItems(set: ResponseHead, items: ItemsJson, rest = ''): string | Response {
  const pieces = ['{"items":', ...items, `${rest}}`];
  const units = pieces.reduce((sum, { length }) => sum + length, 0);
  if (units <= sliceUnits) return sendJson(set, 200, pieces.join(''));
  countTexts(pieces);
  set.status = 200;
  return new Response(streamOf(slicesOf(pieces)), {
    headers: { 'content-type': 'application/json' },
  });
}

/** The length of a slice, in UTF-16 units. */
const sliceUnits = 256 * 1024;

function* slicesOf(pieces: readonly string[]): Generator<string> {
  for (const piece of pieces) {
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
 * requests.
 */
function streamOf(slices: Iterator<string>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      await yieldToEventLoop();
      for (let units = 0; units < sliceUnits; ) {
        const { done, value } = slices.next();
        if (done) return controller.close();
        controller.enqueue(encoder.encode(value));
        units += value.length;
      }
    },
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
