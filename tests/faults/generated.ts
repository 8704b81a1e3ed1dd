import { type TSchema, Type } from '@sinclair/typebox';
import {
  BatchRequest,
  ChatRequest,
  DocumentRequest,
  recordSchemas,
  SupportRequest,
} from '../../sdk/contract/ingest.ts';
import { SaveRequest, UpdateRequest } from '../../sdk/contract/memory.ts';
import type { Random } from '../support/random.ts';
import type { Call } from './api.ts';

/** Generates a request for a random route, then usually corrupts one or two parts of its body. */
export function generate(random: Random, knownIds: string[]): Call {
  const [method, path, schema] = random.pick(endpoints);
  const id = random.chance(0.7) && knownIds.length > 0 ? random.pick(knownIds) : oddText(random);
  const filled = path.replace(':id', encodeURIComponent(id.toWellFormed().slice(0, 500)));
  const key = random.chance(0.3) ? { idempotencyKey: `g-${random.between(0, 400)}` } : {};
  if (schema === null) return { method, path: filled + query(random), ...key };
  let body = fromSchema(schema, random, 0);
  for (let times = random.between(0, 3); times > 0; times -= 1) body = spoil(body, random);
  return { method, path: filled, body, ...key };
}

type Endpoint = [Call['method'], string, TSchema | null];

const endpoints: Endpoint[] = [
  ['POST', '/v1/memories', SaveRequest],
  ['PATCH', '/v1/memories/:id', UpdateRequest],
  ['POST', '/v1/ingest/support', SupportRequest],
  ['POST', '/v1/ingest/document', DocumentRequest],
  ['POST', '/v1/ingest/chat', ChatRequest],
  ['POST', '/v1/ingest', Type.Union(Object.values(recordSchemas))],
  ['POST', '/v1/ingest/batch', BatchRequest],
  ['POST', '/v1/import', Type.Object({ items: Type.Array(SaveRequest) })],
  ['GET', '/v1/memories', null],
  ['GET', '/v1/memories/search', null],
  ['GET', '/v1/memories/:id', null],
  ['GET', '/v1/memories/:id/status', null],
  ['DELETE', '/v1/memories/:id', null],
  ['GET', '/v1/export', null],
];

const parameters = [
  'userId',
  'limit',
  'cursor',
  'order',
  'type',
  'source',
  'externalId',
  'query',
  'metadata[a]',
  'nonsense',
];

function query(random: Random): string {
  const pairs = Array.from({ length: random.between(0, 4) }, () => {
    const value = random.chance(0.6)
      ? random.pick(['u', '10', 'asc', 'ticket', 'a "b" c'])
      : oddText(random);
    return `${random.pick(parameters)}=${encodeURIComponent(value.toWellFormed().slice(0, 500))}`;
  });
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** Generates a value of the type that the schema requires. */
function fromSchema(schema: TSchema, random: Random, level: number): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.anyOf !== undefined)
    return fromSchema(random.pick(schema.anyOf as TSchema[]), random, level);
  switch (schema.type) {
    case 'object':
      return fromObject(schema, random, level);
    case 'array': {
      const length = random.between(schema.minItems ?? 0, (schema.minItems ?? 0) + 4);
      return Array.from({ length }, () => fromSchema(schema.items, random, level + 1));
    }
    case 'integer':
      return random.between(0, 2_000);
    case 'string':
      return schema.format === 'date-time' ? '2026-11-20T10:00:00Z' : oddText(random) || 'x';
    default:
      return oddValue(random);
  }
}

function fromObject(schema: TSchema, random: Random, level: number): unknown {
  const value: { [name: string]: unknown } = {};
  const required: string[] = schema.required ?? [];
  for (const [name, inner] of Object.entries<TSchema>(schema.properties ?? {})) {
    if (!required.includes(name) && random.chance(0.5)) continue;
    value[name] = fromSchema(inner, random, level + 1);
  }
  if (schema.additionalProperties === true && random.chance(0.5)) {
    value[oddText(random)] = oddValue(random);
  }
  return value;
}

/** Replaces, removes or adds a random part of the value. */
function spoil(value: unknown, random: Random): unknown {
  if (typeof value !== 'object' || value === null || random.chance(0.2)) return oddValue(random);
  const copy = structuredClone(value) as { [name: string]: unknown };
  const names = Object.keys(copy);
  const name = random.chance(0.2) || names.length === 0 ? oddText(random) : random.pick(names);
  if (random.chance(0.2)) delete copy[name];
  else copy[name] = spoil(copy[name], random);
  return copy;
}

const oddValues: unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  '',
  [],
  {},
  [[]],
  { a: { b: { c: 1 } } },
  '2026-13-40T99:99:99Z',
];

function oddValue(random: Random): unknown {
  return random.chance(0.4) ? oddText(random) : random.pick(oddValues);
}

const oddTexts = [
  ...[
    'u',
    'u-1',
    '',
    ' ',
    'x'.repeat(257),
    'x'.repeat(70_000),
    '__proto__',
    'constructor',
    'toString',
  ],
  ...[
    '\0',
    '\ud800',
    '🦊',
    '\u202e',
    'a/b',
    '..',
    '%00',
    'null',
    '1e9',
    "' OR 1=1",
    '<b>',
    '\ufeff',
  ],
];

function oddText(random: Random): string {
  return random.chance(0.6) ? `text ${random.between(0, 1_000)}` : random.pick(oddTexts);
}
