import { Elysia } from 'elysia';
import { headers as headerNames } from '../../sdk/contract/headers.ts';
import type { Config } from '../config.ts';
import { ServiceError } from '../errors.ts';
import type { Authenticator, Caller } from './authenticate.ts';
import { createProjectLimit } from './rate-limit.ts';

/** About as long as a restart takes. */
const retryAfterSeconds = 5;

export type Auth = ReturnType<typeof createAuth>;

/**
 * Authentication and rate limit of every route under /v1, both before the body is read. It is
 * attached to the routes themselves and does not compare paths, because the router and a comparison
 * of ours can read the path of a crafted request differently.
 */
export function createAuth(options: {
  authenticator: Authenticator;
  rateLimit: Config['rateLimit'];
  clock(): number;
  addressOf(request: Request): string;
  unavailableReason(): string | null;
}) {
  const { authenticator, addressOf, unavailableReason } = options;
  const limit = createProjectLimit(options.rateLimit, options.clock);
  return new Elysia({ name: 'auth' }).derive(
    { as: 'scoped' },
    async function authorize({ request, set }): Promise<{ caller: Caller }> {
      const reason = unavailableReason();
      if (reason !== null) throw new ServiceError('unavailable', reason, { retryAfterSeconds });
      const header = request.headers.get(headerNames.authorization);
      const caller = await authenticator.authenticate(header, () => addressOf(request));
      limit(caller, set.headers);
      return { caller };
    },
  );
}
