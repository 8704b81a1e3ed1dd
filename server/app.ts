import { Elysia } from 'elysia';
import { headers as headerNames } from '../sdk/contract/headers.ts';
import type { Config } from './config.ts';
import { ServiceError } from './errors.ts';
import type { Authenticator } from './http/authenticate.ts';
import { type BodyReader, createBodyReader, mayStillSend } from './http/body.ts';
import { type BodyQueueLimits, createBodyQueue } from './http/body-queue.ts';
import { allowOrigin } from './http/cors.ts';
import { constantHeaders, errorResponse, textual } from './http/errors.ts';
import { health } from './http/health.ts';
import { ingest } from './http/ingest.ts';
import { memories } from './http/memories.ts';
import { openapi } from './http/openapi.ts';
import { noSuchRoute, secured, unknownRoutes } from './http/secured.ts';
import { createTrace, type Trace } from './http/trace.ts';
import { transfer } from './http/transfer.ts';
import { newRequestId } from './ids.ts';
import type { Logger } from './log.ts';
import type { Storage } from './storage/storage.ts';
import type { TaskRunner } from './tasks/client.ts';

/** What the routes work with; wired in main.ts. */
export type Services = {
  storage: Storage;
  tasks: TaskRunner;
  authenticator: Authenticator;
  config: Config;
  log: Logger;
  version: string;
  now(): number;
  /** In ms, and never going back. */
  clock(): number;
  newId(): string;
  /** The address of the client, as the socket knows it. */
  addressOf(request: Request): string;
  /** Keeps the connection of a request that may have to wait for its turn. */
  waitLonger(request: Request): void;
  /** Closes the connection of a request soon, whatever its client still sends. */
  closeSoon(request: Request): void;
  /** Why nothing is served now, in a sentence; null while the service is. */
  unavailableReason(): string | null;
};

/** What a route works with besides: made by the app itself. */
export type RouteServices = Services & { bodies: BodyReader };

type Answered = Parameters<Trace['answered']>[0];
type Refused = Answered & { error: unknown; code: string | number };

/** The service as a function from request to response; it does not listen. */
export function createApp(services: Services) {
  const { config, log } = services;
  const trace = createTrace(log, services.clock);
  const guard = secured({ ...services, rateLimit: config.rateLimit });
  const bodies = createBodyReader(createBodyQueue(bodyQueueLimits(config)));
  const routes: RouteServices = { ...services, bodies };
  function end(answered: Answered): void {
    const { request } = answered;
    bodies.release(request);
    if (mayStillSend(request, config.maxBodyBytes)) services.closeSoon(request);
    trace.answered(answered);
  }
  return new Elysia({ normalize: false, strictPath: true, handler: { standardHostname: false } })
    .onRequest(function arrive({ request, set }) {
      Object.assign(set.headers, constantHeaders);
      trace.arrived(request, set);
      if (allowOrigin(request, config.corsOrigins, set.headers)) {
        set.status = 204;
        end({ request, set });
        return new Response(null, { status: 204, headers: textual(set.headers) });
      }
      if (!URL.canParse(request.url)) {
        throw new ServiceError('invalid_request', 'the Host or the path cannot be understood');
      }
      return undefined;
    })
    .onError(function refuse({ error, code, request, route, set, caller }: Refused) {
      const known = code === 'NOT_FOUND' ? noSuchRoute(request) : error;
      const requestId = String(set.headers[headerNames.requestId] ?? newRequestId());
      if (!(known instanceof ServiceError) || known.code === 'internal') {
        log.error('a request met a fault', { requestId, error: known });
      }
      const response = errorResponse(known, requestId, set.headers);
      set.status = response.status;
      end({ request, route, set, caller });
      return response;
    })
    .onAfterHandle(function finish({ request, route, set, caller }: Answered) {
      end({ request, route, set, caller });
    })
    .use(health(services))
    .use(openapi(services.version))
    .use(memories(guard, routes))
    .use(ingest(guard, routes))
    .use(transfer(guard, routes))
    .use(unknownRoutes(guard));
}

/** A body takes several times its size while it is parsed and handled. */
function bodyQueueLimits({ maxBodyBytes }: Config): BodyQueueLimits {
  const totalBytes = 4 * maxBodyBytes;
  return { totalBytes, projectBytes: totalBytes / 2, maxWaiting: 64, maxWaitMs: 30_000 };
}
