import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox';
import { type Validator, validator } from '../../sdk/contract/validate.ts';
import { type Authenticated, type Caller, withBoundUser } from './authenticate.ts';
import type { BodyReader } from './body.ts';
import { parse } from './parse.ts';
import { readNoQuery, readQuery, withTypes } from './query.ts';

/** A part of a request before its validation: the JSON of the body, or the URL with the query. */
export type Received<Value = unknown> = { caller: Caller; value: Value };

/**
 * A schema of the contract as a Standard Schema. For an invalid value, it throws `invalid_request`.
 * It returns no issues, because Elysia's error for issues contains the value.
 */
export type RequestSchema<T, Shape extends TSchema = TSchema> = {
  shape: Shape;
  '~standard': {
    version: 1;
    vendor: 'memory-service';
    validate(received: Received): { value: T };
    types?: { input: Received; output: T };
  };
};

/**
 * The options of a route with a JSON body and without a query. The body is read and validated once
 * the key has been checked. With `none`, Elysia does neither. `validate` may check more than the
 * schema can express.
 *
 * Elysia adds what `transform` returns to the context. It reads the source of `transform`, also in
 * the minified executable, and understands only a function that destructures the context.
 */
export function jsonBody<Shape extends TSchema>(
  bodies: BodyReader,
  shape: Shape,
  { validate = validator(shape), maxBytes }: { validate?: Validator; maxBytes?: number } = {},
) {
  const read = (received: Received): Static<Shape> => parse(validate, boundBy(shape, received));
  const transform: Transform = async ({ request, caller }) => {
    const sent = await bodies.readJson(request, caller.projectId, maxBytes);
    readNoQuery(request.url);
    return { sent, body: read({ caller, value: sent }) };
  };
  return { parse: 'none', transform, body: standard(shape, read) } as const;
}

/** Elysia's types do not mention the result. */
type Transform = (context: Authenticated & { request: Request }) => void;

/** The schema of a query, whose parameters arrive as text. */
export function querySchema<Shape extends TObject>(
  shape: Shape,
): RequestSchema<Static<Shape>, Shape> {
  const validate = validator(shape);
  return standard(shape, ({ caller, value }) => {
    const query = boundBy(shape, { caller, value: readQuery(String(value)) });
    return parse(validate, withTypes(query, shape.properties));
  });
}

/** The schema of a query without parameters. */
export const noQuery = standard(Type.Object({}), ({ value }) => readNoQuery(String(value)));

function standard<T, Shape extends TSchema>(
  shape: Shape,
  read: (received: Received) => T,
): RequestSchema<T, Shape> {
  const validate = (received: Received) => ({ value: read(received) });
  return { shape, '~standard': { version: 1, vendor: 'memory-service', validate } };
}

/** Adds the key's bound user, unless the schema has no user. */
function boundBy<Value>({ properties }: TSchema, { caller, value }: Received<Value>): Value {
  const hasUser = properties === undefined || 'userId' in properties;
  return hasUser ? withBoundUser(value, caller) : value;
}
