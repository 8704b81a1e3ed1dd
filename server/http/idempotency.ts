import * as headerNames from '../../sdk/contract/headers.ts';
import { limits } from '../../sdk/contract/limits.ts';
import { badRequest } from '../errors.ts';
import type { Idempotency, Write } from '../storage/types/memories.ts';
import { mapYielding } from '../threads/event-loop.ts';
import type { Caller } from './authenticate.ts';
import { rejectCondition } from './conditions.ts';

/** Visible ASCII characters. */
export const idempotencyKeyPattern = `^[!-~]{1,${limits.idempotencyKeyCharacters}}$`;
const keyPattern = new RegExp(idempotencyKeyPattern);

/**
 * Returns the fields that all writes have in common. `body` is the request's parsed JSON body, if
 * there is one. Throws `invalid_request` if the idempotency key is malformed, or if there is an
 * `If-None-Match`.
 */
export async function writeOf(
  request: Request,
  caller: Caller,
  now: () => number,
  body?: unknown,
): Promise<Write> {
  rejectCondition(request, headerNames.ifNoneMatch);
  const idempotency = await readIdempotency(request, caller, body);
  return { projectId: caller.projectId, at: now(), onlyUserId: caller.userId, idempotency };
}

/**
 * Returns a request's idempotency key and fingerprint, or null if it has no key. The fingerprint
 * covers the method, path, query, `If-Match` and JSON body, regardless of key order. Defaults are
 * not included, so that a new default does not turn a retry into a mismatch.
 */
async function readIdempotency(
  request: Request,
  { userId }: Caller,
  body: unknown,
): Promise<Idempotency | null> {
  const key = request.headers.get(headerNames.idempotencyKey);
  if (key === null) return null;
  if (!keyPattern.test(key)) {
    const most = limits.idempotencyKeyCharacters;
    throw badRequest(headerNames.idempotencyKey, `must be 1 to ${most} visible ASCII characters`);
  }
  const { pathname, search } = new URL(request.url);
  const hash = new Bun.CryptoHasher('sha256');
  hash.update(`${request.method} ${pathname}${search}\n`);
  const ifMatch = request.headers.get(headerNames.ifMatch);
  if (ifMatch !== null) hash.update(`If-Match: ${ifMatch}\n`);
  if (isBatch(body))
    await mapYielding(body.items, (item) => hash.update(`${canonicalJson(item)}\n`));
  else if (body !== undefined) hash.update(canonicalJson(body));
  return { scope: userId ?? '', key, fingerprint: hash.digest('base64url') };
}

/** Whether the body is a batch, whose items can be hashed in separate steps. */
function isBatch(body: unknown): body is { items: unknown[] } {
  if (typeof body !== 'object' || body === null || !('items' in body)) return false;
  // mutate-ignore constant: the hash of the whole body also tells batches apart
  return Array.isArray(body.items) && Object.keys(body).length === 1;
}

/**
 * Returns the JSON of a value with its fields sorted. Infinity, which JSON.parse returns for 1e400,
 * differs from null.
 */
function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson)}]`;
  const fields = Object.entries(value)
    .sort(byName)
    .map(([name, inner]) => `${JSON.stringify(name)}:${canonicalJson(inner)}`);
  return `{${fields}}`;
}

function byName([a]: [string, unknown], [b]: [string, unknown]): number {
  // mutate-ignore constant: only the sign counts
  return a < b ? -1 : 1; // mutate-ignore boundary: names in an object differ
}
