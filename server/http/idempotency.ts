import { headers as headerNames } from '../../sdk/contract/headers.ts';
import { limits } from '../../sdk/contract/limits.ts';
import type { Idempotency } from '../storage/storage.ts';
import { invalid } from './check.ts';

const pattern = new RegExp(`^[\\x21-\\x7e]{1,${limits.idempotencyKeyCharacters}}$`);

/**
 * What makes a repeated request the same one: method, path and the JSON as it was sent, but for
 * the order of keys and before defaults, so that a default added later turns no retry into a
 * mismatch. Null without the header. Throws `invalid_request`.
 */
export function readIdempotency(request: Request, body?: unknown): Idempotency | null {
  const key = request.headers.get(headerNames.idempotencyKey);
  if (key === null) return null;
  if (!pattern.test(key)) {
    const most = limits.idempotencyKeyCharacters;
    throw invalid(headerNames.idempotencyKey, `must be 1 to ${most} visible ASCII characters`);
  }
  const { pathname, search } = new URL(request.url);
  const hasher = new Bun.CryptoHasher('sha256').update(`${request.method} ${pathname}${search}\n`);
  if (body !== undefined) hasher.update(JSON.stringify(sorted(body)));
  return { scope: '', key, fingerprint: hasher.digest('base64url') };
}

/** Far deeper than anything valid. What lies below is refused whatever it is, item by item, so two
 * requests that differ only there get the same answer. */
const comparedLevels = 64;

function sorted(value: unknown, level = 1): unknown {
  // Of a number that is too large, which JSON writes as null. No body has its keys in this order.
  if (typeof value === 'number' && !Number.isFinite(value)) return { z: String(value), a: 0 };
  if (typeof value !== 'object' || value === null) return value;
  if (level > comparedLevels) return null;
  if (Array.isArray(value)) return value.map((inner) => sorted(inner, level + 1));
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner, level + 1)]));
}
