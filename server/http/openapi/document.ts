import { errorTable } from '../../../sdk/contract/errors.ts';
import * as headers from '../../../sdk/contract/headers.ts';
import { limits } from '../../../sdk/contract/limits.ts';
import { MemoryId } from '../../../sdk/contract/memory.ts';
import { idempotencyKeyPattern } from '../idempotency.ts';
import { type Components, createComponents, type Json, type JsonObject } from './components.ts';
import { tags } from './details.ts';
import { responseHeaders } from './headers.ts';
import {
  errorResponses,
  isConditional,
  isWrite,
  needsKey,
  responsesOf,
  savesMemory,
} from './responses.ts';
import type { DocumentedRoute } from './routes.ts';

export function openApiDocument(version: string, routes: readonly DocumentedRoute[]) {
  const components = createComponents();
  const paths: Record<string, JsonObject> = {};
  for (const operation of routes) {
    const path = operation.path.replace(/:(\w+)/g, '{$1}');
    const method = operation.method.toLowerCase();
    paths[path] = { ...paths[path], [method]: describe(operation, components) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Memory service',
      version,
      summary: 'Self-hosted memory for applications and agents.',
      description: introduction(),
      contact: { name: 'The maintainers of the memory service' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      { url: '/', description: 'The service that provides this document' },
      { url: 'http://127.0.0.1:7070', description: 'A local service with default settings' },
    ],
    security: [{ apiKey: [] }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: { apiKey },
      parameters: sharedParameters(components),
      headers: responseHeaders,
      responses: errorResponses(components, routes),
      schemas: components.schemas,
    },
  };
}

function describe(operation: DocumentedRoute, components: Components): JsonObject {
  const { operationId, tags, summary, description } = operation;
  return {
    operationId,
    tags,
    summary,
    description,
    ...(!needsKey(operation) && { security: [] }),
    parameters: parametersOf(operation, components),
    ...requestBody(operation, components),
    responses: responsesOf(operation, components),
  };
}

function requestBody(operation: DocumentedRoute, { refer }: Components): JsonObject {
  const { request } = operation;
  if (request === undefined) return {};
  const bytes = savesMemory(operation) ? limits.saveBodyBytes : limits.bodyBytesDefault;
  return {
    requestBody: {
      required: true,
      description: `At most ${bytes / 1024 / 1024} MiB by default.`,
      content: { 'application/json': { schema: refer(request) } },
    },
  };
}

function parametersOf(operation: DocumentedRoute, { refer }: Components): Json[] {
  const { query, etag } = operation;
  const inQuery = Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: query?.required?.includes(name) ?? false,
    description: schema.description ?? '',
    // `explode` is omitted, because it makes at least one client generator send key=value instead
    // of name[key]=value.
    ...(schema.type === 'object' && { style: 'deepObject' }),
    schema: refer(schema),
    ...(schema.examples !== undefined && { example: schema.examples[0] }),
  }));
  const shared = [
    operation.path.includes(':id') && 'MemoryId',
    isWrite(operation) && 'IdempotencyKey',
    isConditional(operation) && 'IfMatch',
    etag && !isWrite(operation) && 'IfNoneMatch',
  ].filter((name) => typeof name === 'string');
  return [...inQuery, ...shared.map((name) => ({ $ref: `#/components/parameters/${name}` }))];
}

function sharedParameters({ refer }: Components): JsonObject {
  return {
    MemoryId: {
      name: 'id',
      in: 'path',
      required: true,
      description: "The memory's id.",
      schema: refer(MemoryId),
    },
    IdempotencyKey: {
      name: headers.idempotencyKey,
      in: 'header',
      description:
        'Makes a retry safe. Send a new random value, such as a UUID, for each write. For at ' +
        'least 72 hours, repeating the request with the same key returns the stored response and ' +
        'has no further effect; a different request with the same key is rejected with a 400. ' +
        'Errors do not consume the key. Once the memory is deleted or has expired, the stored ' +
        'response is reduced to `{ "id", "memoryId", "deleted": true }`.',
      schema: { type: 'string', pattern: idempotencyKeyPattern },
    },
    IfMatch: {
      name: headers.ifMatch,
      in: 'header',
      description:
        'The `ETag` of the version to change. If the memory is at a different version, or a save ' +
        'would create it, the response is a 412 and nothing changes. `*` matches any version.',
      schema: { type: 'string', pattern: '^(?:\\*|(?:W/)?"[1-9][0-9]{0,14}")$' },
    },
    IfNoneMatch: {
      name: headers.ifNoneMatch,
      in: 'header',
      description:
        'The `ETag` of the version you have. The response is a 304 if that version is current.',
      schema: { type: 'string', pattern: '^(?:\\*|(?:W/)?"[^"]*"(?:, *(?:W/)?"[^"]*")*)$' },
    },
  };
}

const apiKey = {
  type: 'http',
  scheme: 'bearer',
  description:
    "A project's API key. It may be read-only. If it is bound to a user, `userId` is optional " +
    'and defaults to that user.',
};

function introduction(): string {
  const errors = Object.entries(errorTable).map(
    ([code, { status, when }]) => `| ${status} | \`${code}\` | ${when} |`,
  );
  return [
    'Saves, ingests, lists and searches what an application knows about its users.',
    'Send your API key with every request: `Authorization: Bearer <API_KEY>`. A key belongs to a ' +
      'project and can access only the data of that project.',
    'Names are camelCase, times are RFC 3339 in UTC with milliseconds, and ids are opaque. ' +
      'Characters are Unicode code points. Text is returned exactly as it was accepted. Unknown ' +
      'fields, unknown query parameters and out-of-range values are rejected, never dropped or changed. ' +
      `A JSON body may have at most ${limits.jsonLevels} levels of nesting and ` +
      `${limits.jsonValues} values, and each record at most ${limits.recordFields} fields.`,
    'Later versions may add fields and enumeration values to responses: accept unknown ones. ' +
      'Every response has an `X-Request-Id`, which is the one you sent or a new one, and ' +
      '`Cache-Control: no-store`.',
    `Every error has the same body, with one of these codes:\n\n${[
      '| status | error | when |',
      '|---|---|---|',
      ...errors,
    ].join('\n')}`,
  ].join('\n\n');
}
