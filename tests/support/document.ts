import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import {
  type OperationName,
  operations,
  type Operation as Row,
} from '../../sdk/contract/operations.ts';
import { createApp } from '../../server/app.ts';
import { readConfig } from '../../server/config.ts';
import { openApiDocument } from '../../server/http/openapi/document.ts';
import { documentedRoutes } from '../../server/http/openapi/routes.ts';
import type { Services } from '../../server/http/services.ts';

/* The OpenAPI document as clients receive it, and validation against its schemas with Ajv. */

type Ref = { $ref?: string };
type Schema = Ref & { description?: string; examples?: unknown[] };
export type Content = { schema?: Schema; examples?: Record<string, Example> };
type Example = { value: unknown };
type Body = { content?: { 'application/json': Content } };
export type Header = Ref & { required?: true; schema?: object; example?: unknown };
export type Answer = Ref & Body & { description?: string; headers?: Record<string, Header> };
export type Parameter = Ref & {
  name: string;
  in: string;
  required?: true;
  schema: object;
  example?: unknown;
};
export type Operation = {
  method: string;
  path: string;
  operationId: string;
  /** An empty list if the operation requires no key. */
  security?: unknown[];
  parameters?: Parameter[];
  requestBody?: Body;
  responses: Record<string, Answer>;
};

type Document = {
  info: { version: string };
  paths: Record<string, Record<string, Omit<Operation, 'method' | 'path'>>>;
  components: { headers: Record<string, Header>; schemas: Record<string, Schema> };
};

/** The service's routes. Registering routes does not use the services. */
export const app = createApp({ config: readConfig({ MEMORY_RATE_LIMIT: 'off' }) } as Services);

export const document: Document = JSON.parse(
  JSON.stringify(openApiDocument('0.0.0', documentedRoutes(app))),
);

export const documented: Operation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([name, about]) => ({ ...about, method: name.toUpperCase(), path })),
);

/** Returns what the document says about an operation of the contract. */
export function documentOf(name: OperationName): Operation {
  const { method, path }: Row = operations[name];
  const found = documented.find((one) => routeOf(one) === routeOf({ method, path }));
  if (found === undefined) throw new Error(`${name} is not in the document`);
  return found;
}

/** Returns the method and the path, with parameters as in `{id}`. */
export function routeOf({ method, path }: { method: string; path: string }): string {
  return `${method} ${path.replace(/:(\w+)/g, '{$1}')}`;
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(document, 'document');

export function resolve<T extends Ref>(value: T): T {
  if (value.$ref === undefined) return value;
  let found: unknown = document;
  for (const step of value.$ref.split('/').slice(1)) found = Object(found)[step];
  if (found === undefined) throw new Error(`${value.$ref} does not exist in the document`);
  return found as T;
}

const validators = new Map<string, ValidateFunction>();

/** Returns the validation errors, or null if the value is valid. */
export function misfit(schema: object, value: unknown): string | null {
  const absolute = JSON.stringify(schema).replaceAll('"#/components', '"document#/components');
  const validate = validators.get(absolute) ?? ajv.compile(JSON.parse(absolute));
  validators.set(absolute, validate);
  return validate(value) ? null : ajv.errorsText(validate.errors);
}

export function jsonOf(body: Body | undefined): Content {
  return body?.content?.['application/json'] ?? {};
}

/** Returns the content's examples, or those of its schema if the content has none. */
export function examplesOf({ schema, examples = {} }: Content): unknown[] {
  const named = Object.values(examples).map(({ value }) => value);
  return named.length > 0 || schema === undefined ? named : (resolve(schema).examples ?? []);
}
