import type { TObject, TSchema } from '@sinclair/typebox';
import type { AnyElysia } from 'elysia';
import { operations } from '../../../sdk/contract/operations.ts';
import type { RequestSchema } from '../schema.ts';
import { details, otherRoutes, type RouteDetail } from './details.ts';

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
    const found = known.find((one) => one.method === method && one.path === path);
    // Elysia does not keep the types of a route's options.
    const { query, body } = hooks as RouteOptions;
    return found === undefined ? [] : [{ ...found, query: query?.shape, request: body?.shape }];
  });
}

const known = Object.entries({ ...operations, ...otherRoutes }).map(([name, route]) => {
  return { ...route, ...details[name as keyof typeof details] };
});

type RouteOptions = {
  query?: RequestSchema<unknown, TObject>;
  body?: RequestSchema<unknown>;
};
