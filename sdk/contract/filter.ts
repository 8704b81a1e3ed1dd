import { Type } from '@sinclair/typebox';
import { limits } from './limits.ts';
import { type GivenTime, MemoryType } from './memory.ts';
import { PointInTime, Text } from './text.ts';

const max = limits.nameCharacters;

/**
 * The filters of a list or a search; several are combined with AND. In a query, metadata is written
 * `metadata[key]=value`: a string is compared with its text, a number or boolean with its JSON
 * text, an array with any of its elements.
 */
export const filterFields = {
  type: Type.Optional(MemoryType),
  source: Type.Optional(Text({ max, description: 'The system that the memory came from.' })),
  externalId: Type.Optional(Text({ max, description: 'Its id in that system.' })),
  from: Type.Optional(
    Type.Unsafe<string>({
      ...PointInTime,
      description:
        'Only memories from this time on. The time of a memory is its `occurredAt`, or its ' +
        '`createdAt` if it has none.',
    }),
  ),
  to: Type.Optional(
    Type.Unsafe<string>({
      ...PointInTime,
      description: 'Only memories before this time.',
    }),
  ),
  metadata: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      propertyNames: { minLength: 1 },
      description:
        'Top-level keys of the metadata, as `metadata[key]=value`. Matches a string with ' +
        'this text, a number or boolean with this JSON text, or an array with such an element.',
      examples: [{ source: 'chat' }],
    }),
  ),
};

/** The same filters as a caller of the SDK writes them. */
export type FilterFields = {
  type?: MemoryType | undefined;
  /** The system that the memory came from. */
  source?: string | undefined;
  /** Its id in that system. */
  externalId?: string | undefined;
  /** Only memories whose time (`occurredAt`, else `createdAt`) is not before this. */
  from?: GivenTime | undefined;
  /** Only memories whose time is before this. */
  to?: GivenTime | undefined;
  /** Compares top-level keys; an array matches if any of its elements does. */
  metadata?: Record<string, string | number | boolean> | undefined;
};
