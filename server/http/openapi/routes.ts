import type { TObject, TSchema } from '@sinclair/typebox';
import type { AnyElysia } from 'elysia';
import type { RequestSchema } from '../schema.ts';
import type { RouteDetail } from './details.ts';

/** A route that the OpenAPI document describes. The others serve pages, metrics and MCP. */
export type DocumentedRoute = RouteDetail & {
  method: string;
  path: string;
  query: TObject | undefined;
  request: TSchema | undefined;
};

/** Returns the documented routes of an app, in the order in which they were added. */
export function documentedRoutes({ routes }: AnyElysia): DocumentedRoute[] {
  return routes.flatMap(({ method, path, hooks }) => {
    // Elysia does not keep the types of a route's options.
    const { detail, query, body } = hooks as RouteOptions;
    if (detail?.operationId === undefined) return [];
    return [{ ...detail, method, path, query: query?.shape, request: body?.shape }];
  });
}

type RouteOptions = {
  detail?: RouteDetail;
  query?: RequestSchema<unknown, TObject>;
  body?: RequestSchema<unknown>;
};
