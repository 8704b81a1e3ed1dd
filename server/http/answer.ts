import { headers } from '../../sdk/contract/headers.ts';
import type { WriteResult } from '../storage/storage.ts';

/** The part of Elysia's context that an answer is written to. */
export type Sink = {
  set: { status?: number | string; headers: Record<string, string | number> };
  request: Request;
};

/** Sends JSON text. */
export function sendJson({ set }: Sink, status: number, body: string): string {
  set.status = status;
  set.headers['content-type'] = 'application/json';
  return body;
}

/** Sends a write's answer, first or stored, and says which it is where a key was given. */
export function sendResult(sink: Sink, { answer, replayed }: WriteResult): string | null {
  const { set, request } = sink;
  if (request.headers.has(headers.idempotencyKey)) {
    set.headers[headers.idempotencyStatus] = replayed ? 'replayed' : 'created';
  }
  if (answer.body !== '') return sendJson(sink, answer.status, answer.body);
  set.status = answer.status;
  return null;
}
