import { type ErrorCode, errorTable } from '../../../sdk/contract/errors.ts';
import { headers } from '../../../sdk/contract/headers.ts';
import { DeletedSince } from '../../../sdk/contract/memory.ts';
import type { Operation } from '../../../sdk/contract/operations.ts';
import type { Components, JsonObject } from './components.ts';
import type { Content, Documentation } from './documentation.ts';
import { deletedSince, errorExample } from './examples.ts';
import { type AnswerHeader, referToHeaders } from './headers.ts';
import { ErrorAnswer } from './schemas.ts';

/** Whether an operation needs a key, and with it counts against the rate limit. */
export function isSecured({ path }: Operation): boolean {
  return path.startsWith('/v1/');
}

/** Whether an operation changes something, and therefore takes an Idempotency-Key. */
export function isWrite({ method }: Operation): boolean {
  return method !== 'GET';
}

/** Every answer that the operation can give, by status. */
export function responsesOf(
  operation: Operation,
  { answer, holdsText, located, failing, request }: Documentation,
  { refer }: Components,
): JsonObject {
  const names: AnswerHeader[] = [headers.requestId];
  if (isSecured(operation)) names.push(headers.rateLimitPolicy, headers.rateLimit);
  if (isWrite(operation)) names.push(headers.idempotencyStatus);
  const responses: JsonObject = {
    [operation.success]: {
      ...(holdsText ? contentOrDeleted(answer, refer) : contentOf(answer, refer)),
      headers: referToHeaders(located ? [...names, 'Location'] : names),
      ...(located && { links: statusLink }),
    },
  };
  for (const [status, codes] of errorsOf(operation, request !== undefined)) {
    responses[status] = { $ref: `#/components/responses/${nameOf(codes)}` };
  }
  if (failing !== undefined) responses[503] = failingOrError(failing, refer);
  return responses;
}

/** The error answers that operations refer to. */
export function sharedResponses({ refer }: Components, operations: [Operation, Documentation][]) {
  const shared: JsonObject = {};
  for (const [operation, { request }] of operations) {
    for (const codes of errorsOf(operation, request !== undefined).values()) {
      shared[nameOf(codes)] ??= {
        description: codes.map((code) => `\`${code}\`: ${errorTable[code].when}.`).join('\n\n'),
        headers: referToHeaders(headersOf(codes)),
        content: {
          'application/json': { schema: refer(ErrorAnswer), examples: errorExamples(codes) },
        },
      };
    }
  }
  return shared;
}

/** The codes of the one error table that apply, by status in rising order. */
function errorsOf(operation: Operation, hasBody: boolean): Map<number, ErrorCode[]> {
  const applies: Partial<Record<ErrorCode, boolean>> = {
    // A route is never reached by another method.
    method_not_allowed: false,
    idempotency_key_reused: isWrite(operation),
    unauthorized: isSecured(operation),
    rate_limited: isSecured(operation),
    not_found: operation.path.includes(':'),
    payload_too_large: hasBody,
    unsupported_media_type: hasBody,
  };
  const codes = Object.keys(errorTable) as ErrorCode[];
  const found = codes.filter((code) => applies[code] ?? true);
  return Map.groupBy(found, (code) => errorTable[code].status);
}

function headersOf(codes: ErrorCode[]): AnswerHeader[] {
  const names: AnswerHeader[] = [headers.requestId];
  if (codes.includes('unauthorized')) return [...names, 'WWW-Authenticate'];
  names.push(headers.rateLimitPolicy, headers.rateLimit);
  const isTransient = codes.includes('rate_limited') || codes.includes('unavailable');
  return isTransient ? [...names, headers.retryAfter] : names;
}

/** `not_found` → `NotFound`. */
function nameOf(codes: ErrorCode[]): string {
  const pascal = (code: string) => code.replace(/(?:^|_)(\w)/g, (_, first) => first.toUpperCase());
  return codes.map(pascal).join('Or');
}

function contentOf({ description, schema, example }: Content, refer: Components['refer']) {
  if (schema === undefined) return { description };
  const json = { schema: refer(schema), example: example as JsonObject };
  return { description, content: { 'application/json': json } };
}

function contentOrDeleted({ description, schema, example }: Content, refer: Components['refer']) {
  if (schema === undefined) return { description };
  const examples = {
    answered: { value: example as JsonObject },
    'repeated after a delete': { value: deletedSince },
  };
  const either = { anyOf: [refer(schema), refer(DeletedSince)] };
  return { description, content: { 'application/json': { schema: either, examples } } };
}

function failingOrError({ description, schema, example }: Content, refer: Components['refer']) {
  if (schema === undefined) return { description };
  const examples = {
    failing: { value: example as JsonObject },
    ...errorExamples(['unavailable']),
  };
  return {
    description,
    headers: referToHeaders([headers.requestId, headers.retryAfter]),
    content: {
      'application/json': { schema: { anyOf: [refer(schema), refer(ErrorAnswer)] }, examples },
    },
  };
}

function errorExamples(codes: ErrorCode[]): JsonObject {
  return Object.fromEntries(codes.map((code) => [code, { value: errorExample(code) }]));
}

const statusLink = {
  status: {
    operationId: 'status',
    parameters: { id: '$response.body#/memoryId' },
    description: 'How far the work is.',
  },
};
