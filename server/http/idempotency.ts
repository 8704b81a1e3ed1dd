import { headers as headerNames } from '../../sdk/contract/headers.ts';
import { limits } from '../../sdk/contract/limits.ts';
import type { Idempotency, Write } from '../storage/types/memories.ts';
import { mapYielding } from '../threads/event-loop.ts';
import type { Caller } from './authenticate.ts';
import { badRequest } from './parse.ts';

/** Visible ASCII characters. */
export const idempotencyKeyPattern = `^[!-~]{1,${limits.idempotencyKeyCharacters}}$`;
const keyPattern = new RegExp(idempotencyKeyPattern);

/**
 * Returns the fields that all writes have in common. `body` is the request's parsed JSON body, if
 * there is one. Throws `invalid_request` if the idempotency key is malformed.
 */
export async function writeOf(
  request: Request,
  caller: Caller,
  now: () => number,
  body?: unknown,
): Promise<Write> {
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
  const hash = createHash();
  hash.add(`${request.method} ${pathname}${search}\n`);
  const ifMatch = request.headers.get(headerNames.ifMatch);
  if (ifMatch !== null) hash.add(`If-Match: ${ifMatch}\n`);
  if (isBatch(body)) await mapYielding(body.items, (item) => addValue(hash, item));
  else if (body !== undefined) addValue(hash, body);
  return { scope: userId ?? '', key, fingerprint: hash.digest() };
}

/** Whether the body is a batch, whose items can be hashed in separate steps. */
function isBatch(body: unknown): body is { items: unknown[] } {
  if (typeof body !== 'object' || body === null || !('items' in body)) return false;
  // mutate-ignore constant: the hash of the whole body also tells batches apart
  return Array.isArray(body.items) && Object.keys(body).length === 1;
}

type Hash = { add(text: string): void; digest(): string };

/** Text is buffered up to this length, because each call to the hasher has a fixed cost. */
const bufferLength = 16_384; // mutate-ignore constant: the digest is the same

function createHash(): Hash {
  const hasher = new Bun.CryptoHasher('sha256');
  let buffered = '';
  return {
    add(text) {
      buffered += text;
      if (buffered.length < bufferLength) return; // mutate-ignore boundary: the digest is the same
      hasher.update(buffered);
      buffered = '';
    },
    digest: () => hasher.update(buffered).digest('base64url'),
  };
}

/**
 * Adds a value, with object keys sorted. Each string is preceded by its length, so that different
 * values produce different text. Infinity, which JSON.parse returns for 1e400, is distinguished
 * from null.
 */
function addValue(hash: Hash, value: unknown): void {
  if (typeof value === 'string') {
    addString(hash, value);
  } else if (typeof value !== 'object' || value === null) {
    hash.add(`${value};`);
  } else if (Array.isArray(value)) {
    hash.add('[');
    for (const item of value) addValue(hash, item);
    hash.add(']');
  } else {
    hash.add('{');
    for (const [key, inner] of Object.entries(value).sort(byKey)) {
      addString(hash, key);
      addValue(hash, inner);
    }
    hash.add('}');
  }
}

function byKey([a]: [string, unknown], [b]: [string, unknown]): number {
  // mutate-ignore constant: only the sign counts
  return a < b ? -1 : 1; // mutate-ignore boundary: names in an object differ
}

function addString(hash: Hash, text: string): void {
  // The hasher would replace every lone surrogate with the same character.
  const encoded = text.isWellFormed() ? text : JSON.stringify(text);
  hash.add(`"${text.length},${encoded.length}:`);
  hash.add(encoded);
}
