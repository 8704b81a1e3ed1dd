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
  /** Stores when keys were used since the last call; off the path of requests. */
  noteUse(): Promise<void>;
};

/** A revoked key stops, and a new one works, within this time. */
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
  const cache = new Map<string, { key: StoredKey | null; readAt: number }>();
  const used = new Map<string, number>();
  const refused = createWindow(refusedPerMinute, 60, clock);

  function authenticate(header: string | null, addressOf: () => string): Caller | Promise<Caller> {
    const token = bearerToken(header);
    if (token === null) return refuse(addressOf);
    const hash = hashKey(token);
    // Hashes are compared, and how far two of them agree tells nothing about the key.
    if (fixed !== null && hash === fixedHash) {
      const { projectId } = fixed;
      return { projectId, project: 'default', keyLastFour: token.slice(-4) };
    }
    const cached = cache.get(hash);
    if (cached !== undefined && clock() - cached.readAt < cachedMs) {
      return accept(cached.key, addressOf);
    }
    const readAt = clock();
    return storage.findKey(hash).then((key) => {
      if (cache.size >= maxCached) cache.clear();
      cache.set(hash, { key, readAt });
      return accept(key, addressOf);
    });
  }

  function accept(key: StoredKey | null, addressOf: () => string): Caller {
    if (key === null || key.revokedAt !== null) return refuse(addressOf);
    if (key.expiresAt !== null && key.expiresAt <= now()) return refuse(addressOf);
    used.set(key.id, now());
    return { projectId: key.projectId, project: key.project, keyLastFour: key.lastFour };
  }

  function refuse(addressOf: () => string): never {
    const { left, resetSeconds } = refused.count(addressOf());
    if (left >= 0) throw unauthorized();
    throw new ServiceError('rate_limited', 'too many refused keys from this address', {
      retryAfterSeconds: resetSeconds,
    });
  }

  async function noteUse(): Promise<void> {
    if (used.size === 0) return;
    const entries = [...used].map(([id, at]) => ({ id, at }));
    await storage.touchKeys(entries);
    for (const { id, at } of entries) if (used.get(id) === at) used.delete(id);
  }

  return { authenticate, noteUse };
}

function bearerToken(header: string | null): string | null {
  return /^Bearer +([\x21-\x7e]{1,256})$/i.exec(header ?? '')?.[1] ?? null;
}

/** The same words for a key that is missing, malformed, unknown, expired or revoked. */
function unauthorized(): ServiceError {
  return new ServiceError(
    'unauthorized',
    'a valid API key is needed: send the header "Authorization: Bearer <API_KEY>"',
  );
}
