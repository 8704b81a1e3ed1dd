import { type TSchema, Type } from '@sinclair/typebox';
import { type ErrorCode, errorTable } from '../../../sdk/contract/errors.ts';
import * as headers from '../../../sdk/contract/headers.ts';
import { DeletedSince } from '../../../sdk/contract/memory.ts';
import { OpenEnum } from '../../../sdk/contract/text.ts';
import type { Components, JsonObject } from './components.ts';
import { exampleRequestId, type HeaderName, referToHeaders } from './headers.ts';
import type { DocumentedRoute } from './routes.ts';

/** Whether an operation needs a key and counts against the rate limit. */
export function needsKey({ path }: DocumentedRoute): boolean {
  return path.startsWith('/v1/');
}

/** Whether an operation is a write and therefore accepts an Idempotency-Key. */
export function isWrite({ method, reads }: DocumentedRoute): boolean {
  return method !== 'GET' && reads === undefined;
}

/** Whether an operation changes one memory and therefore supports If-Match. */
export function isConditional(operation: DocumentedRoute): boolean {
  return savesMemory(operation) || (isWrite(operation) && operation.path.includes(':'));
}

/** Whether an operation saves or updates a memory and returns it. */
export function savesMemory(operation: DocumentedRoute): boolean {
  return isWrite(operation) && operation.etag === true;
}

export function responsesOf(operation: DocumentedRoute, { refer }: Components): JsonObject {
  const { success: status = 200, replaced, response, location, etag } = operation;
  const names: HeaderName[] = [headers.requestId];
  if (needsKey(operation)) names.push(headers.rateLimitPolicy, headers.rateLimit);
  if (isWrite(operation)) names.push(headers.idempotencyStatus);
  if (etag) names.push(headers.etag);
  // A deletion cuts down the stored response, because it holds data of a memory.
  const replay = savesMemory(operation) || location ? DeletedSince : undefined;
  const schemas = [response, replay].filter((schema) => schema !== undefined);
  const success = { ...content(schemas, refer), headers: referToHeaders(names) };
  const created = { ...success, headers: referToHeaders([...names, 'Location']) };
  const errors = [...errorsOf(operation)].map(([status, codes]) => {
    return [status, { $ref: `#/components/responses/${nameOf(codes)}` }];
  });
  const responses = {
    [status]: location ? created : success,
    ...(replaced !== undefined && { [replaced]: success }),
    ...(etag && !isWrite(operation) && { 304: notModified(names) }),
    ...Object.fromEntries(errors),
  };
  // A failing service also responds with its health, but with status 503.
  if (operation.path === '/health')
    responses[503] = { ...success, description: 'The service is failing.' };
  return responses;
}

function notModified(names: HeaderName[]): JsonObject {
  return {
    description: 'The memory is still at the version in `If-None-Match`.',
    headers: referToHeaders(names),
  };
}

export function errorResponses({ refer }: Components, all: readonly DocumentedRoute[]) {
  const groups = all.flatMap((operation) => [...errorsOf(operation).values()]);
  const responses = groups.map((codes) => {
    const description = codes.map((code) => `\`${code}\`: ${errorTable[code].when}.`).join('\n\n');
    const json = { schema: refer(ErrorSchema), examples: errorExamples(codes) };
    const headers = referToHeaders(errorHeaders(codes));
    return [nameOf(codes), { description, headers, content: { 'application/json': json } }];
  });
  return Object.fromEntries(responses) as JsonObject;
}

function errorsOf(operation: DocumentedRoute): Map<number, ErrorCode[]> {
  const { request } = operation;
  const hasBody = request !== undefined;
  const applies: Record<ErrorCode, boolean> = {
    invalid_request: true,
    internal: true,
    // An OpenAPI operation includes its method, so a wrong method is not one of its errors.
    method_not_allowed: false,
    idempotency_key_reused: isWrite(operation),
    forbidden: needsKey(operation),
    precondition_failed: isConditional(operation),
    unauthorized: needsKey(operation),
    rate_limited: needsKey(operation),
    not_found: operation.path.includes(':'),
    payload_too_large: hasBody,
    unsupported_media_type: hasBody,
    unavailable: needsKey(operation),
  };
  const codes = Object.keys(errorTable) as ErrorCode[];
  const found = codes.filter((code) => applies[code]);
  return Map.groupBy(found, (code) => errorTable[code].status);
}

function errorHeaders(codes: ErrorCode[]): HeaderName[] {
  const names: HeaderName[] = [headers.requestId];
  if (codes.includes('unauthorized')) return [...names, 'WWW-Authenticate'];
  names.push(headers.rateLimitPolicy, headers.rateLimit);
  const isTransient = codes.includes('rate_limited') || codes.includes('unavailable');
  return isTransient ? [...names, headers.retryAfter] : names;
}

/** Converts `not_found` to `NotFound`. */
function nameOf(codes: ErrorCode[]): string {
  const pascal = (code: string) => code.replace(/(?:^|_)(\w)/g, (_, first) => first.toUpperCase());
  return codes.map(pascal).join('Or');
}

function content(schemas: TSchema[], refer: Components['refer']): JsonObject {
  const [first] = schemas;
  if (first === undefined) return { description: 'Success. The response has no body.' };
  const schema = schemas.length === 1 ? refer(first) : { anyOf: schemas.map(refer) };
  return {
    description: first.description ?? '',
    content: { 'application/json': { schema } },
  };
}

/** The schema of `ErrorBody`, which is only a type in the contract. */
const ErrorSchema = Type.Object(
  {
    error: OpenEnum(Object.keys(errorTable), 'A machine-readable error code.'),
    message: Type.String({ description: 'A message for humans. Do not parse it.' }),
    details: Type.Optional(
      Type.Array(
        Type.Object(
          {
            field: Type.String({
              description: 'The dotted path of the field; empty for the whole body.',
            }),
            message: Type.String({ description: 'What is wrong with the field.' }),
          },
          { title: 'FieldError', description: 'An invalid field.' },
        ),
        { maxItems: 20, description: 'Present only for validation errors.' },
      ),
    ),
    requestId: Type.String({
      description: 'Identifies the request in the log. The same as `X-Request-Id`.',
    }),
  },
  { title: 'Error', description: 'The body of every error response.' },
);

function errorExamples(codes: ErrorCode[]): JsonObject {
  const examples = codes.map((code) => {
    const message = errorTable[code].example;
    const [field = '', problem = ''] = message.split(': ');
    const details = code === 'invalid_request' && { details: [{ field, message: problem }] };
    return [code, { value: { error: code, message, ...details, requestId: exampleRequestId } }];
  });
  return Object.fromEntries(examples);
}
