import type { TObject, TSchema } from '@sinclair/typebox';
import type { AnyElysia } from 'elysia';
import { type Operation, operations } from '../../../sdk/contract/operations.ts';
import type { RequestSchema } from '../schema.ts';
import type { RouteDetail } from './details.ts';

/** A route that the OpenAPI document describes. The others serve pages, metrics and MCP. */
export type DocumentedRoute = RouteDetail &
  Partial<Pick<Operation, 'success' | 'replaced' | 'reads'>> & {
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
    const operation = contract.find((one) => one.method === method && one.path === path);
    return [{ ...operation, ...detail, method, path, query: query?.shape, request: body?.shape }];
  });
}

const contract: Operation[] = Object.values(operations);

type RouteOptions = {
  detail?: RouteDetail;
  query?: RequestSchema<unknown, TObject>;
  body?: RequestSchema<unknown>;
};
