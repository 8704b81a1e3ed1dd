import { Elysia } from 'elysia';
import type { ErrorCode } from '../sdk/contract/errors.ts';
import * as headerNames from '../sdk/contract/headers.ts';
import type { Config } from './config.ts';
import { noSuchMemory, ServiceError } from './errors.ts';
import { createAuth } from './http/auth.ts';
import { readBy } from './http/authenticate.ts';
import { createBodyReader } from './http/body.ts';
import { consolePages } from './http/console.ts';
import { allowOrigin } from './http/cors.ts';
import { constantHeaders, errorResponse, textual } from './http/errors.ts';
import { createHealth, createWork, health } from './http/health.ts';
import { home } from './http/home.ts';
import { ingest } from './http/ingest.ts';
import { isMcp, mcp, rpcError } from './http/mcp.ts';
import { memories } from './http/memories.ts';
import { metrics } from './http/metrics.ts';
import { isRoute, noSuchRoute, unknownRoutes } from './http/not-found.ts';
import { documentedRoutes } from './http/openapi/routes.ts';
import { openapi } from './http/openapi.ts';
import { project } from './http/project.ts';
import { createSender } from './http/response.ts';
import { search } from './http/search.ts';
import type { RouteServices, Services } from './http/services.ts';
import { statuses } from './http/statuses.ts';
import { createTrace, type Ended } from './http/trace.ts';
import { transfer } from './http/transfer.ts';
import { newRequestId } from './ids.ts';
import { count } from './metrics/counts.ts';
import { type Admission, createAdmission } from './threads/admission.ts';

type Failed = Ended & {
  error: unknown;
  code: string | number;
  params?: { id?: string } | undefined;
};

/** Creates the service's request handler, but does not listen on a port. */
export function createApp(services: Services) {
  const { config, log, storage } = services;
  const trace = createTrace(services);
  const auth = createAuth(services);
  const bodies = createBodyReader(admissionOf(config), config.maxBodyBytes);
  const work = createWork(services);
  const readHealth = createHealth(services, work);
  const routes: RouteServices = { ...services, bodies, sender: createSender() };
  function end(ended: Ended, isSending: boolean): void {
    const { request } = ended;
    bodies.release(request);
    if (isSending) services.closeSoon(request);
    trace.end(ended);
  }
  const app = new Elysia({
    normalize: false,
    strictPath: true,
    handler: { standardHostname: false },
  });
  const documented = () => documentedRoutes(app);

  /** An unknown route or memory comes before anything else that is wrong with a request. */
  async function causeOf({ error, code, request, params, caller }: Failed): Promise<unknown> {
    if (code === 'NOT_FOUND') return noSuchRoute(request, app.routes);
    if (caller === undefined || params?.id === undefined) return error;
    if (isRoute(request, documented())) return noSuchRoute(request, documented());
    if (!isInvalid(error)) return error;
    const read = { ...readBy(caller, services.now()), id: params.id };
    return storage.getMemory(read).then(
      (memory) => (memory === null ? noSuchMemory() : error),
      (failure) => failure,
    );
  }

  return app
    .onRequest(function arrive({ request, set }) {
      Object.assign(set.headers, constantHeaders);
      trace.begin(request, set);
      if (allowOrigin(request, config.corsOrigins, set.headers)) {
        set.status = 204;
        end({ request, set }, bodies.mayStillSend(request));
        return new Response(null, { status: 204, headers: textual(set.headers) });
      }
      if (!URL.canParse(request.url)) {
        throw new ServiceError('invalid_request', 'the Host header or the path is invalid');
      }
      return undefined;
    })
    .onError(async function fail({ error, code, request, route, set, caller, params }: Failed) {
      const cause = await causeOf({ error, code, request, set, caller, params });
      const requestId = String(set.headers[headerNames.requestId] ?? newRequestId());
      const errorCode = cause instanceof ServiceError ? cause.code : 'internal';
      count('memory_http_errors_total', { error: errorCode });
      if (errorCode === 'internal') {
        log.error('unhandled error while serving request', { requestId, error: cause });
      }
      const response = errorResponse(cause, requestId, set.headers, (body) =>
        isMcp(request) ? rpcError(request, body) : body,
      );
      set.status = response.status;
      const isSending = !(await bodies.discardRest(request));
      end({ request, route, set, caller }, isSending);
      return response;
    })
    .onAfterHandle(function finish({ request, route, set, caller }: Ended) {
      end({ request, route, set, caller }, bodies.mayStillSend(request));
    })
    .use(config.console === 'on' ? consolePages(log) : new Elysia())
    .use(metrics(services, { work, readHealth }))
    .use(memories(auth, routes))
    .use(search(auth, routes))
    .use(statuses(auth, routes))
    .use(ingest(auth, routes))
    .use(transfer(auth, routes))
    .use(project(auth, routes))
    .use(health(readHealth))
    .use(home(services, readHealth))
    .use(openapi(services.version, documented))
    .use(mcp(auth, routes))
    .use(unknownRoutes(auth, documented));
}

/** Whether the error is about the part of a request that is checked after its path. */
function isInvalid(error: unknown): boolean {
  const codes: ErrorCode[] = ['unsupported_media_type', 'payload_too_large', 'invalid_request'];
  return error instanceof ServiceError && codes.includes(error.code);
}

/**
 * Limits the total size of all admitted bodies to twice the maximum body size, because handling a
 * body takes several times its size in memory. Bun may already have buffered about 1 MiB of the
 * body of each request that waits.
 */
function admissionOf({ maxBodyBytes }: Config): Admission {
  const running = { total: 2 * maxBodyBytes, project: maxBodyBytes };
  const limits = { running, waiting: { total: 96, project: 32 }, maxWaitMs: 30_000 };
  const refusal = 'too many large requests are being processed; try again shortly';
  return createAdmission(limits, refusal);
}
