import { headers } from '../../../sdk/contract/headers.ts';
import { limits } from '../../../sdk/contract/limits.ts';
import type { Operation } from '../../../sdk/contract/operations.ts';
import type { Components, Json, JsonObject } from './components.ts';
import type { Documentation } from './documentation.ts';
import { memoryId } from './examples.ts';
import { isWrite } from './responses.ts';

/** What of the request is not in its body: path, query and headers. */
export function parametersOf(
  operation: Operation,
  { query }: Documentation,
  { refer }: Components,
): Json[] {
  const parameters: Json[] = [];
  for (const [name] of operation.path.matchAll(/(?<=:)\w+/g)) {
    parameters.push({ $ref: `#/components/parameters/${name}` });
  }
  for (const [name, schema] of Object.entries(query?.schema.properties ?? {})) {
    const { description, ...rest } = schema;
    const example = query?.example[name];
    parameters.push({
      name,
      in: 'query',
      ...(query?.schema.required?.includes(name) && { required: true }),
      ...(description !== undefined && { description }),
      // A map in a query is written name[key]=value.
      ...(schema.type === 'object' && { style: 'deepObject', explode: true }),
      schema: refer(rest as typeof schema),
      ...(example !== undefined && { example: example as Json }),
    });
  }
  if (isWrite(operation)) parameters.push({ $ref: '#/components/parameters/IdempotencyKey' });
  return parameters;
}

export const sharedParameters = {
  id: {
    name: 'id',
    in: 'path',
    required: true,
    description: 'The id of the memory, as a write answered it.',
    schema: { type: 'string' },
    example: memoryId,
  },
  IdempotencyKey: {
    name: headers.idempotencyKey,
    in: 'header',
    description:
      'Makes a repeated write safe: the same key with the same request gives the first answer ' +
      'again, for 72 hours or more, and has no second effect. With another request it is refused. ' +
      'Errors do not use a key up. Once the memory is deleted, the stored answer is only ' +
      '`{ "id", "memoryId", "deleted": true }`, with its old status.',
    schema: { type: 'string', pattern: `^[!-~]{1,${limits.idempotencyKeyCharacters}}$` },
    example: 'import-2026-11-20-0001',
  },
} satisfies JsonObject;
