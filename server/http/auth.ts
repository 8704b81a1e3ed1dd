import { Elysia } from 'elysia';
import * as headerNames from '../../sdk/contract/headers.ts';
import { ServiceError } from '../errors.ts';
import { unavailable } from '../storage/refusals.ts';
import type { Authenticated, Caller } from './authenticate.ts';
import { createProjectLimit } from './rate-limit.ts';
import type { ResponseHead } from './response.ts';
import type { Received } from './schema.ts';
import type { Services } from './services.ts';

export type Auth = ReturnType<typeof createAuth>;

/**
 * Authenticates and rate-limits requests to the routes under /v1 and /mcp, before their bodies are
 * read. The plugins are attached to routes, because a comparison of paths could miss a crafted
 * request that the router accepts.
 */
export function createAuth(services: Services) {
  const { authenticator, addressOf, unavailableReason, config, clock, storage } = services;
  const limit = createProjectLimit(config.rateLimit, clock, storage);

  async function authorize(request: Request, headers: ResponseHead['headers']): Promise<Caller> {
    const reason = unavailableReason();
    if (reason !== null) throw unavailable(reason);
    const header = request.headers.get(headerNames.authorization);
    const caller = await authenticator.authenticate(header, () => addressOf(request));
    if (caller.metricsOnly) {
      throw new ServiceError('forbidden', 'this API key can only read /metrics');
    }
    await limit(caller, headers);
    return caller;
  }

  function plugin(name: string, isRead: (request: Request) => boolean) {
    return new Elysia({ name })
      .derive({ as: 'scoped' }, async ({ request, set }): Promise<Authenticated> => {
        const caller = await authorize(request, set.headers);
        // Replaces what Elysia has parsed, which merges repeated parameters.
        const query: Received = { caller, value: request.url };
        return Object.assign({ caller, sent: undefined }, { query });
      })
      .onTransform({ as: 'scoped' }, ({ request, caller }) => {
        if (!caller.readOnly || isRead(request)) return;
        throw new ServiceError('forbidden', 'this API key is read-only');
      });
  }

  return {
    /** For routes on which every method except GET and HEAD writes. */
    byMethod: plugin('auth', ({ method }) => method === 'GET' || method === 'HEAD'),
    /** For read-only routes, whatever their method. */
    reading: plugin('auth-reading', () => true),
  };
}
