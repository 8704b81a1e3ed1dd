import { ServiceError } from '../errors.ts';
import { hashKey } from '../keys.ts';
import type { Storage, StoredKey } from '../storage/storage.ts';
import { createWindow } from './window.ts';

/** Who is calling: the project, and what a log may say of the key. */
export type Caller = { projectId: number; project: string; keyLastFour: string };

export type Authenticator = {
  /**
   * The caller by the Authorization header. Throws `unauthorized`, or `rate_limited`. Only a
   * refusal asks for the address.
   */
  authenticate(header: string | null, addressOf: () => string): Caller | Promise<Caller>;
  /** Stores when keys were used since the last call, and forgets those that are not in use; off the
   * path of requests. */
  flushKeyUsage(): Promise<void>;
};

/** A key that was found, and when; the one from the settings is stored nowhere. */
type Known = { caller: Caller; key: StoredKey | null; at: number };

/** A revoked key stops within this time. */
const cachedMs = 500;
const maxCached = 10_000;
const refusedPerMinute = 60;

export function createAuthenticator(options: {
  storage: Storage;
  now(): number;
  /** In ms, and never going back: how old what was read is, whatever becomes of the date. */
  clock(): number;
  /** The key from the settings, for the project `default`. */
  fixed: { key: string; projectId: number } | null;
}): Authenticator {
  const { storage, now, clock, fixed } = options;
  const fixedHash = fixed === null ? null : hashKey(fixed.key);
  // By the whole header, because to hash the key of every request is dear beside all else; and
  // only those that are ours, so that strangers fill nothing.
  const cache = new Map<string, Known>();
  const used = new Map<string, number>();
  const refused = createWindow(refusedPerMinute, 60, clock);

  const isFresh = ({ at }: Known) => clock() - at < cachedMs;

  function authenticate(header: string | null, addressOf: () => string): Caller | Promise<Caller> {
    if (header === null) return refuse(addressOf);
    const cached = cache.get(header);
    if (cached !== undefined && isFresh(cached)) return accept(cached, addressOf);
    const token = bearerToken(header);
    if (token === null) return refuse(addressOf);
    const at = clock();
    const hash = hashKey(token);
    // Hashes are compared, and how far two of them agree tells nothing about the key.
    if (fixed !== null && hash === fixedHash) {
      const { projectId } = fixed;
      const caller = { projectId, project: 'default', keyLastFour: token.slice(-4) };
      return accept(keep(header, { caller, key: null, at }), addressOf);
    }
    return storage.findKey(hash).then((key) => {
      if (key === null) return refuse(addressOf);
      return accept(keep(header, { caller: callerOf(key), key, at }), addressOf);
    });
  }

  function keep(header: string, known: Known): Known {
    if (cache.size >= maxCached) cache.clear();
    cache.set(header, known);
    return known;
  }

  function accept({ caller, key }: Known, addressOf: () => string): Caller {
    if (key === null) return caller;
    if (key.revokedAt !== null) return refuse(addressOf);
    if (key.expiresAt !== null && key.expiresAt <= now()) return refuse(addressOf);
    used.set(key.id, now());
    return caller;
  }

  function refuse(addressOf: () => string): never {
    const { left, resetSeconds } = refused.count(addressOf());
    if (left >= 0) throw unauthorized();
    throw new ServiceError('rate_limited', 'too many refused keys from this address', {
      retryAfterSeconds: resetSeconds,
    });
  }

  async function flushKeyUsage(): Promise<void> {
    for (const [header, known] of cache) if (!isFresh(known)) cache.delete(header);
    if (used.size === 0) return;
    const entries = [...used].map(([id, at]) => ({ id, at }));
    await storage.touchKeys(entries);
    for (const { id, at } of entries) if (used.get(id) === at) used.delete(id);
  }

  return { authenticate, flushKeyUsage };
}

function callerOf({ projectId, project, lastFour }: StoredKey): Caller {
  return { projectId, project, keyLastFour: lastFour };
}

function bearerToken(header: string): string | null {
  return /^Bearer +([\x21-\x7e]{1,256})$/i.exec(header)?.[1] ?? null;
}

/** The same words for a key that is missing, malformed, unknown, expired or revoked. */
function unauthorized(): ServiceError {
  return new ServiceError(
    'unauthorized',
    'a valid API key is needed: send the header "Authorization: Bearer <API_KEY>"',
  );
}
