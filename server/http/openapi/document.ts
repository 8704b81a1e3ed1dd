import { errorTable } from '../../../sdk/contract/errors.ts';
import {
  type Operation,
  type OperationName,
  operations,
} from '../../../sdk/contract/operations.ts';
import { type Components, createComponents, type JsonObject } from './components.ts';
import { type Documentation, documentation, tags } from './documentation.ts';
import { answerHeaders, referToHeaders } from './headers.ts';
import { parametersOf, sharedParameters } from './parameters.ts';
import { isSecured, responsesOf, sharedResponses } from './responses.ts';

/** The OpenAPI 3.1 document, from the contract's own schemas and its table of operations. */
export function openApiDocument(version: string) {
  const components = createComponents();
  const all = Object.entries(operations).map(([name, operation]): [Operation, Documentation] => {
    return [operation, documentation[name as OperationName]];
  });
  return {
    openapi: '3.1.0',
    info: {
      title: 'Memory service',
      version,
      summary: 'A self-hosted memory for applications and agents.',
      description: introduction(),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    // Wherever this document was fetched from.
    servers: [{ url: '/', description: 'This service' }],
    security: [{ apiKey: [] }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths: { ...pathsOf(components), '/openapi.json': thisDocument },
    components: {
      securitySchemes: { apiKey },
      parameters: sharedParameters,
      headers: answerHeaders,
      responses: sharedResponses(components, all),
      schemas: components.schemas,
    },
  };
}

function pathsOf(components: Components): Record<string, JsonObject> {
  const paths: Record<string, JsonObject> = {};
  for (const [name, operation] of Object.entries(operations)) {
    const path = operation.path.replace(/:(\w+)/g, '{$1}');
    const described = describe(name as OperationName, operation, components);
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: described };
  }
  return paths;
}

function describe(name: OperationName, operation: Operation, components: Components): JsonObject {
  const about = documentation[name];
  const { tag, summary, description, request } = about;
  const parameters = parametersOf(operation, about, components);
  return {
    operationId: name,
    tags: [tag],
    summary,
    description,
    ...(!isSecured(operation) && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(request !== undefined && { requestBody: requestBody(request, components) }),
    responses: responsesOf(operation, about, components),
  };
}

function requestBody(
  { schema, examples }: NonNullable<Documentation['request']>,
  { refer }: Components,
): JsonObject {
  const values = Object.entries(examples).map(([name, value]) => [
    name,
    { value: value as JsonObject },
  ]);
  const json = { schema: refer(schema), examples: Object.fromEntries(values) };
  return { required: true, content: { 'application/json': json } };
}

const apiKey = {
  type: 'http',
  scheme: 'bearer',
  description: 'The API key of a project, the same with every request.',
};

const thisDocument = {
  get: {
    operationId: 'openapi',
    tags: ['Service'],
    summary: 'This document',
    description: 'What you are reading. Needs no key.',
    security: [],
    responses: {
      200: {
        description: 'An OpenAPI 3.1 document.',
        headers: referToHeaders(['X-Request-Id']),
        content: { 'application/json': { schema: { type: 'object' } } },
      },
      400: { $ref: '#/components/responses/InvalidRequest' },
      500: { $ref: '#/components/responses/Internal' },
      503: { $ref: '#/components/responses/Unavailable' },
    },
  },
};

function introduction(): string {
  const rows = Object.entries(errorTable).map(
    ([code, { status, when }]) => `| ${status} | \`${code}\` | ${when} |`,
  );
  return [
    'Saves, lists and ingests what an application knows of its users.',
    'Send your API key with every request: `Authorization: Bearer <API_KEY>`. A key belongs to a ' +
      'project, which sees only what was written with its own keys.',
    'Names are camelCase, times RFC 3339 in UTC with milliseconds, ids opaque strings. Characters ' +
      'are Unicode code points. Text comes back exactly as it was accepted. Unknown fields, ' +
      'unknown query parameters and values out of range are refused, never dropped or changed.',
    `Every error has the same body, with one of these codes:\n\n${[
      '| status | error | when |',
      '|---|---|---|',
      ...rows,
    ].join('\n')}`,
  ].join('\n\n');
}
