import { ServiceError } from '../errors.ts';
import type { Storage } from '../storage/storage.ts';
import type { StoredKey } from '../storage/types/keys.ts';
import { hashKey } from './keys.ts';
import { createRateLimit } from './rate-limit.ts';

/** A request's API key, without its secret. */
export type Caller = Omit<StoredKey, 'id' | 'prefix' | 'createdAt' | 'lastUsedAt' | 'revokedAt'>;

/** What the routes under /v1 and /mcp know of a request. */
export type Authenticated = {
  caller: Caller;
  /** The JSON of the body, unchanged, for the fingerprint of the request. */
  sent: unknown;
};

type Known = { caller: Caller; key: StoredKey | null; at: number };

/** A revoked key may still be accepted for this long. */
const cachedMs = 500;
const maxCached = 10_000;
const wrongKeysPerMinute = 60;

export type Authenticator = ReturnType<typeof createAuthenticator>;

export function createAuthenticator(options: {
  storage: Storage;
  now(): number;
  /** A monotonic clock, in milliseconds. */
  clock(): number;
  /** The key from the settings, for the project `default`. */
  fixed: { key: string; projectId: number } | null;
}) {
  const { storage, now, clock, fixed } = options;
  const fixedHash = fixed === null ? null : hashKey(fixed.key);
  // The cache is keyed by the API key itself, because hashing it in every request is expensive.
  // Unknown keys are not cached, so that clients without a valid key cannot fill it.
  const cache = new Map<string, Known>();
  const used = new Map<string, number>();
  const countWrongKey = createRateLimit(wrongKeysPerMinute, 60, clock);

  const isFresh = ({ at }: Known) => clock() - at < cachedMs;

  /**
   * Returns the caller for an Authorization header. Throws `unauthorized`, or `rate_limited` for an
   * address that keeps sending wrong keys. Calls `addressOf` only for a wrong key.
   */
  function authenticate(header: string | null, addressOf: () => string): Caller | Promise<Caller> {
    const [, token] = /^Bearer +([\x21-\x7e]{1,256})$/i.exec(header ?? '') ?? [];
    if (token === undefined) throw new ServiceError('unauthorized', noKey);
    const cached = cache.get(token);
    if (cached !== undefined && isFresh(cached)) return accept(cached, addressOf);
    const at = clock();
    const hash = hashKey(token);
    // Hashes need no constant-time comparison: timing reveals nothing about the key.
    if (fixed !== null && hash === fixedHash) {
      const caller = fixedCaller(fixed.projectId, token);
      return accept(keep(token, { caller, key: null, at }), addressOf);
    }
    return storage.findKey(hash).then((key) => {
      if (key === null) return reject(addressOf);
      return accept(keep(token, { caller: key, key, at }), addressOf);
    });
  }

  function keep(token: string, known: Known): Known {
    if (cache.size >= maxCached) cache.clear();
    cache.set(token, known);
    return known;
  }

  function accept({ caller, key }: Known, addressOf: () => string): Caller {
    if (key === null) return caller;
    if (key.revokedAt !== null) return reject(addressOf);
    if (key.expiresAt !== null && key.expiresAt <= now()) return reject(addressOf);
    used.set(key.id, now());
    return caller;
  }

  function reject(addressOf: () => string): never {
    const { left, resetSeconds } = countWrongKey(addressOf());
    if (left >= 0) throw new ServiceError('unauthorized', wrongKey);
    const message = `too many invalid API keys from this address; try again in ${resetSeconds} s`;
    throw new ServiceError('rate_limited', message, { retryAfterSeconds: resetSeconds });
  }

  /** Stores when keys were last used, and drops stale cache entries. Called by maintenance. */
  async function flushKeyUsage(): Promise<void> {
    for (const [token, known] of cache) if (!isFresh(known)) cache.delete(token);
    if (used.size === 0) return;
    const entries = [...used].map(([id, at]) => ({ id, at }));
    await storage.touchKeys(entries);
    for (const { id, at } of entries) if (used.get(id) === at) used.delete(id);
  }

  return { authenticate, flushKeyUsage };
}

function fixedCaller(projectId: number, key: string): Caller {
  const about = { project: 'default', name: 'MEMORY_API_KEY', lastFour: key.slice(-4) };
  const kind = { userId: null, readOnly: false, metricsOnly: false };
  return { projectId, ...about, ...kind, expiresAt: null };
}

const noKey = 'a valid API key is required: send the header "Authorization: Bearer <API_KEY>"';
/** The same message for all three cases, so that it does not reveal whether a key ever existed. */
const wrongKey = 'the API key is unknown, expired or revoked';

/** Adds the key's bound user to a request. Throws `forbidden` if the request names another user. */
export function withBoundUser<T>(request: T, { userId }: Caller): T {
  if (userId === null || !isObject(request)) return request;
  if (request.userId === undefined) return { ...request, userId };
  // A value that is not a string is rejected later, by the schema.
  if (typeof request.userId !== 'string' || request.userId === userId) return request;
  throw new ServiceError('forbidden', 'this API key is bound to another user');
}

function isObject(value: unknown): value is { userId?: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function readBy({ projectId, userId }: Caller, now: number) {
  return { projectId, now, onlyUserId: userId };
}
