import { headers } from '../../sdk/contract/headers.ts';
import { yieldToEventLoop } from '../event-loop.ts';
import type { ItemsJson, WriteResult } from '../storage/storage.ts';
import { etagOf } from './conditions.ts';

/**
 * The part of Elysia's context for a response. A handler must destructure the fields it uses:
 * Elysia analyzes the handler's source, and would parse the cookies, query and headers of every
 * request if the handler passed on the whole context.
 */
export type ResponseHead = { status?: number | string; headers: Record<string, string | number> };

export function sendJson(set: ResponseHead, status: number, body: string): string {
  set.status = status;
  set.headers['content-type'] = 'application/json';
  return body;
}

/** Sends a page of items that are already JSON text. */
export function sendPage(set: ResponseHead, items: ItemsJson, nextCursor: string | null) {
  return sendItems(set, items, `,"nextCursor":${JSON.stringify(nextCursor)}`);
}

/** Sends `{"items":…}`, with `rest` after the items. A large body is sent in slices. */
export function sendItems(set: ResponseHead, items: ItemsJson, rest = ''): string | Response {
  const [begin, end] = ['{"items":', `${rest}}`];
  if (typeof items === 'string') return sendJson(set, 200, begin + items + end);
  set.status = 200;
  const parts = [Buffer.from(begin), ...slicesOf(items), Buffer.from(end)];
  return new Response(streamOf(parts), { headers: { 'content-type': 'application/json' } });
}

const sliceBytes = 256 * 1024;

function slicesOf(bytes: Uint8Array): Uint8Array[] {
  const count = Math.ceil(bytes.length / sliceBytes);
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(index * sliceBytes, (index + 1) * sliceBytes),
  );
}

/** Streams the parts and yields between them, because copying megabytes delays other requests. */
function streamOf(parts: Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      await yieldToEventLoop();
      const part = parts.shift();
      if (part !== undefined) controller.enqueue(part);
      if (parts.length === 0) controller.close();
    },
  });
}

/** Sends the response of a write. A header reports whether the response is a replay. */
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
  return null;
}
