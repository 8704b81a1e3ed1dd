import { setTimeout } from 'node:timers/promises';
import type { CallOptions } from '../../sdk/index.ts';
import { reportRetries } from '../client/connect.ts';
import { messageOf } from '../client/service-errors.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { halves, type Part } from './chunks.ts';
import type { Entry, Rejected } from './records.ts';
import type { Done } from './report.ts';

/** Sends the records of one request. Invalid records fail individually. */
export type Post = (entries: Entry[], call: CallOptions) => Promise<Done & { failed: Failed[] }>;
type Failed = { index: number; error: string; message: string };

/** The result of one request, or of records that no request can contain. */
type Sent = Done & { rejected: Rejected[] };

const busyMs = 5_000;
/** Longer than the default, because a slow server needs more time for a large chunk. */
const requestTimeoutMs = 120_000;

/**
 * Returns a function that sends requests in sequence, repeats them while the service returns 429,
 * and splits requests that are too large. Errors that do not concern individual records, such as a
 * lost connection or a rejected key, are thrown and end the run.
 */
export async function partsSender(term: Terminal, post: Post) {
  const { InvalidRequestError, PayloadTooLargeError, RateLimitError } = await import(
    '../../sdk/index.ts'
  );
  const report = reportRetries(term);

  async function sendPart(part: Part): Promise<Sent[]> {
    const { entries, key } = part;
    const call = { idempotencyKey: key, signal: term.interrupted, timeoutMs: requestTimeoutMs };
    try {
      const { failed, ...done } = await post(entries, call);
      const rejected = failed.flatMap(({ index, error, message }) =>
        entries.slice(index, index + 1).map(({ where, text }) => ({ where, text, error, message })),
      );
      return [{ ...done, rejected }];
    } catch (error) {
      if (!(error instanceof RateLimitError)) return onError(part, error);
      const retryInMs = error.retryAfterMs ?? busyMs;
      report({ error, retryInMs });
      await setTimeout(retryInMs, undefined, { signal: term.interrupted });
      return sendPart(part);
    }
  }

  async function onError(part: Part, error: unknown): Promise<Sent[]> {
    const isTooLarge = error instanceof PayloadTooLargeError;
    if (!isTooLarge && !(error instanceof InvalidRequestError)) throw error;
    // A body is also invalid if its JSON has too many values or levels. Other errors, such as a
    // reused key, concern every part.
    const mayFit = isTooLarge || error.code === 'invalid_request';
    if (mayFit && part.entries.length > 1) return sendParts(halves(part));
    const why = { error: isTooLarge ? 'payload_too_large' : error.code, message: messageOf(error) };
    const rejected = part.entries.map(({ where, text }) => ({ where, text, ...why }));
    return [{ counts: {}, rejected }];
  }

  async function sendParts(parts: Part[]): Promise<Sent[]> {
    const sent: Sent[] = [];
    for (const part of parts.filter(({ entries }) => entries.length > 0)) {
      sent.push(...(await sendPart(part)));
    }
    return sent;
  }
  return sendParts;
}
