import { type Static, Type } from '@sinclair/typebox';
import { memoryStatuses, memoryTypes } from './enumerations.ts';
import { limits } from './limits.ts';
import { described, Metadata, Nullable, Nullish, OpenEnum, PointInTime, Text } from './text.ts';

const typeDescription =
  '`memory` if it was saved directly; otherwise the type of the record that was ingested.';

/** The type of a memory, in a request. */
export const MemoryType = Type.Union(
  memoryTypes.map((type) => Type.Literal(type)),
  { title: 'MemoryType', description: typeDescription, examples: ['memory'] },
);
export type MemoryType = Static<typeof MemoryType>;

const statusDescription =
  'Changes from `processing` to `complete` or `failed`. A saved memory is `complete` immediately.';

/** A memory's status, in a request. */
export const MemoryStatus = Type.Union(
  memoryStatuses.map((status) => Type.Literal(status)),
  { title: 'MemoryStatus', description: statusDescription },
);
export type MemoryStatus = Static<typeof MemoryStatus>;

/** A memory's status, in a response. */
export const CurrentStatus = OpenEnum(memoryStatuses, statusDescription);

export const MemoryId = Type.String({
  title: 'MemoryId',
  description: 'The id of a memory: an opaque string that begins with `mem_`.',
  examples: ['mem_0199c2a4f1e87c3d9b5e6a7f80912b3c'],
});

/** RFC 3339, UTC, with milliseconds. */
export const Time = Type.String({
  title: 'Time',
  format: 'date-time',
  description: 'RFC 3339, UTC, with milliseconds.',
  examples: ['2026-11-20T10:00:00.000Z'],
});

export const UserId = Text({
  title: 'UserId',
  max: limits.nameCharacters,
  description:
    'The user that the memory belongs to. Optional with an API key that is bound to a user.',
  examples: ['u-1'],
});

export const memoryFields = {
  id: MemoryId,
  userId: UserId,
  content: Type.String({ description: 'The text, as saved or as built from a record.' }),
  metadata: Metadata,
  type: OpenEnum(memoryTypes, typeDescription),
  source: Nullable(Type.String(), {
    description: 'The system that the memory came from.',
  }),
  externalId: Nullable(Type.String(), {
    description:
      "The memory's id in the `source` system. Together, `source` and `externalId` identify one " +
      'memory of the user.',
  }),
  status: CurrentStatus,
  version: Type.Integer({
    minimum: 1,
    description:
      'Starts at 1 and increases with each change to `content`, `metadata`, `occurredAt` or ' +
      '`expiresAt`.',
  }),
  occurredAt: Nullable(Time, {
    description: 'When the event that the memory describes happened, if known.',
  }),
  expiresAt: Nullable(Time, {
    description: 'When the memory expires. After that, no request returns it.',
  }),
  createdAt: Time,
  updatedAt: Time,
};

const [exampleId] = MemoryId.examples as [string];
const createdAt = '2026-11-20T10:00:00.000Z';

/** A shop's memory about its customer u-1. All examples use this user. */
export const exampleMemory = {
  id: exampleId,
  userId: 'u-1',
  content: 'Prefers dark mode',
  metadata: { source: 'chat' },
  type: 'memory',
  source: null,
  externalId: null,
  status: 'complete',
  version: 1,
  occurredAt: null,
  expiresAt: null,
  createdAt,
  updatedAt: createdAt,
};

/** A piece of information about a user. */
export const Memory = Type.Object(memoryFields, {
  title: 'Memory',
  description: 'A piece of information that belongs to a user.',
  examples: [exampleMemory],
});
export type Memory = Static<typeof Memory>;

/** The response to a save. It repeats the id as `memoryId`, the name that ingest calls use. */
export const SavedMemory = Type.Object(
  { ...memoryFields, memoryId: MemoryId },
  {
    title: 'SavedMemory',
    description:
      'The memory that was saved. `memoryId` is its `id` under the name that ingest responses use.',
    examples: [{ ...exampleMemory, memoryId: exampleId }],
  },
);
export type SavedMemory = Static<typeof SavedMemory>;

/**
 * The response to a save, an update or an ingest that is repeated with the same key after the
 * memory was deleted. The memory's data was removed from the stored response, and the repeated
 * request writes nothing.
 */
export const DeletedSince = Type.Object(
  {
    id: MemoryId,
    memoryId: MemoryId,
    deleted: Type.Literal(true),
  },
  {
    title: 'DeletedMemory',
    description:
      'The response to a repeated request if the memory has since been deleted. It contains no ' +
      'data of the memory.',
    examples: [{ id: exampleId, memoryId: exampleId, deleted: true }],
  },
);
export type DeletedSince = Static<typeof DeletedSince>;

const Content = Text({ max: limits.contentCharacters, description: 'The text to remember.' });

const occurredAt =
  'When the event that the memory describes happened. A date is interpreted as midnight UTC.';
const expiresAt = 'When the memory expires. A date is interpreted as midnight UTC.';

export const SaveRequest = Type.Object(
  {
    userId: UserId,
    content: Content,
    metadata: Type.Optional(Metadata),
    source: Nullish(
      Text({ max: limits.nameCharacters, description: 'The system that the memory comes from.' }),
    ),
    externalId: Nullish(
      Text({
        max: limits.nameCharacters,
        description:
          "The memory's id in the `source` system. Saving the same `source` and `externalId` again for " +
          'the same user replaces the memory.',
      }),
    ),
    occurredAt: Nullish(described(PointInTime, occurredAt)),
    expiresAt: Nullish(described(PointInTime, expiresAt)),
  },
  {
    title: 'SaveRequest',
    description: 'A memory to save.',
    additionalProperties: false,
    examples: [
      { userId: 'u-1', content: 'Prefers dark mode', metadata: { source: 'chat' } },
      {
        userId: 'u-1',
        content: 'Is vegetarian',
        source: 'agent',
        externalId: 'diet',
        occurredAt: '2026-05-08T13:56:07Z',
        expiresAt: '2096-05-08T13:56:07Z',
      },
    ],
  },
);
/** Null in `source`, `externalId`, `occurredAt` or `expiresAt` counts as omitted. */
export type SaveRequest = {
  /** The user that the memory belongs to: 1 to 256 characters. A key bound to a user needs none. */
  userId?: string;
  /** The text to remember: 1 to 65,536 characters. */
  content: string;
  /** Free-form keys; up to 16 KiB as JSON. */
  metadata?: GivenMetadata | undefined;
  /** The system that the memory comes from. */
  source?: string | null | undefined;
  /** The id in the `source` system. A save with the same `source` and id replaces the memory. */
  externalId?: string | null | undefined;
  /** When the event that the memory describes happened. */
  occurredAt?: GivenTime | null | undefined;
  /** When the memory expires. After that, no request returns it. */
  expiresAt?: GivenTime | null | undefined;
};

/**
 * Each field in the request replaces the stored value as a whole; omitted fields keep their values.
 */
export const UpdateRequest = Type.Object(
  {
    content: Type.Optional(Content),
    metadata: Type.Optional(Metadata),
    occurredAt: Type.Optional(
      Nullable(PointInTime, { description: `${occurredAt} Null clears the time.` }),
    ),
    expiresAt: Type.Optional(
      Nullable(PointInTime, { description: `${expiresAt} Null clears the time.` }),
    ),
  },
  {
    title: 'UpdateRequest',
    description:
      'At least one field is required. Each field replaces the stored value; omitted fields keep ' +
      'their values.',
    additionalProperties: false,
    minProperties: 1,
    examples: [
      { content: 'Prefers dark mode, but not at noon' },
      { metadata: { source: 'chat' }, occurredAt: '2026-05-08T13:56:07Z', expiresAt: null },
    ],
  },
);
export type UpdateRequest = {
  content?: string | undefined;
  metadata?: GivenMetadata | undefined;
  /** Null clears the time. */
  occurredAt?: GivenTime | null | undefined;
  /** Null clears the time. */
  expiresAt?: GivenTime | null | undefined;
};

/** A time in a request: RFC 3339, a date (midnight UTC), or a `Date`. */
export type GivenTime = string | Date;

/**
 * Any value that serializes to a JSON object. `Metadata` would reject a value whose type is an
 * `interface`.
 */
export type GivenMetadata = object;
