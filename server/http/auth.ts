import { Elysia } from 'elysia';
import { headers as headerNames } from '../../sdk/contract/headers.ts';
import type { Config } from '../config.ts';
import { ServiceError } from '../errors.ts';
import type { Storage } from '../storage/storage.ts';
import type { Authenticator, Caller } from './authenticate.ts';
import { createProjectLimit } from './rate-limit.ts';
import type { ResponseHead } from './response.ts';

/** About how long a restart takes. */
const retryAfterSeconds = 5;

export type Auth = ReturnType<typeof createAuth>;

/**
 * Authenticates and rate-limits the routes under /v1 and /mcp, before their bodies are read. The
 * plugins are attached to routes, because comparing paths could miss a crafted request that the
 * router accepts.
 */
export function createAuth(options: {
  authenticator: Authenticator;
  rateLimit: Config['rateLimit'];
  storage: Pick<Storage, 'takeQuota'>;
  clock(): number;
  addressOf(request: Request): string;
  unavailableReason(): string | null;
}) {
  const { authenticator, addressOf, unavailableReason } = options;
  const limit = createProjectLimit(options.rateLimit, options.clock, options.storage);

  async function authorize(request: Request, headers: ResponseHead['headers']): Promise<Caller> {
    const reason = unavailableReason();
    if (reason !== null) throw new ServiceError('unavailable', reason, { retryAfterSeconds });
    const header = request.headers.get(headerNames.authorization);
    const caller = await authenticator.authenticate(header, () => addressOf(request));
    await limit(caller, headers);
    return caller;
  }

  return {
    /** For routes on which every method except GET and HEAD writes. */
    byMethod: new Elysia({ name: 'auth' }).derive(
      { as: 'scoped' },
      async ({ request, set }): Promise<{ caller: Caller }> => {
        const caller = await authorize(request, set.headers);
        if (caller.readOnly && !reads.has(request.method)) throw readOnlyKey();
        return { caller };
      },
    ),
    /** For read-only routes, whatever their method. */
    reading: new Elysia({ name: 'auth-reading' }).derive(
      { as: 'scoped' },
      async ({ request, set }): Promise<{ caller: Caller }> => ({
        caller: await authorize(request, set.headers),
      }),
    ),
  };
}

const reads: ReadonlySet<string> = new Set(['GET', 'HEAD']);

function readOnlyKey(): ServiceError {
  return new ServiceError('forbidden', 'this API key is read-only');
}
