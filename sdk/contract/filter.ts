import { Type } from '@sinclair/typebox';
import { limits } from './limits.ts';
import { type GivenTime, MemoryStatus, MemoryType } from './memory.ts';
import { described, PointInTime, Text } from './text.ts';

const max = limits.nameCharacters;

/**
 * The filters of a list or a search, combined with AND. In a query, a metadata filter is written
 * `metadata[key]=value`. The value is compared with the text of a string, with the JSON text of a
 * number or boolean, or with each element of an array.
 */
export const filterFields = {
  type: Type.Optional(MemoryType),
  status: Type.Optional(MemoryStatus),
  source: Type.Optional(Text({ max, description: 'The system that the memory came from.' })),
  externalId: Type.Optional(Text({ max, description: "The memory's id in the `source` system." })),
  from: Type.Optional(
    described(
      PointInTime,
      "Only memories from this time on. A memory's time is its `occurredAt`, or its " +
        '`createdAt` if `occurredAt` is null.',
    ),
  ),
  to: Type.Optional(described(PointInTime, 'Only memories before this time.')),
  metadata: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      propertyNames: { minLength: 1 },
      description:
        'Filters by top-level keys of the metadata, as `metadata[key]=value`. Matches a string that ' +
        'equals the value, a number or boolean whose JSON text equals the value, or an array ' +
        'with such an element.',
      examples: [{ source: 'chat' }],
    }),
  ),
};

/** The same filters in the form that the SDK accepts. */
export type FilterFields = {
  type?: MemoryType | undefined;
  /** A search finds only memories that are `complete`. */
  status?: MemoryStatus | undefined;
  /** The system that the memory came from. */
  source?: string | undefined;
  /** The memory's id in the `source` system. */
  externalId?: string | undefined;
  /**
   * Only memories from this time on. A memory's time is its `occurredAt`, or its `createdAt` if
   * `occurredAt` is null.
   */
  from?: GivenTime | undefined;
  /** Only memories before this time. */
  to?: GivenTime | undefined;
  /** Values of top-level keys of the metadata. An array matches if any of its elements matches. */
  metadata?: Record<string, string | number | boolean> | undefined;
};
