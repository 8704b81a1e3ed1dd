import { type Static, Type } from '@sinclair/typebox';
import { limits } from './limits.ts';
import { Metadata, OpenEnum, Text } from './text.ts';

const types = ['memory', 'ticket', 'document', 'conversation', 'event', 'profile'] as const;
const typeDescription = '`memory` was saved directly; the others were ingested as such a record.';

/** The type of a memory, in a request. */
export const MemoryType = Type.Union(
  types.map((type) => Type.Literal(type)),
  { title: 'MemoryType', description: typeDescription, examples: ['memory'] },
);
export type MemoryType = (typeof types)[number];

const statuses = ['processing', 'complete', 'failed'] as const;
const statusDescription =
  'From `processing` to `complete` or `failed`; a saved memory is `complete` at once.';

/** The status of a memory, in a request. */
export const MemoryStatus = Type.Union(
  statuses.map((status) => Type.Literal(status)),
  { title: 'MemoryStatus', description: statusDescription },
);
export type MemoryStatus = (typeof statuses)[number];

/** The status of a memory, in a response. */
export const CurrentStatus = OpenEnum(statuses, statusDescription);

export const MemoryId = Type.String({
  title: 'MemoryId',
  description: 'The id of a memory: opaque, begins with `mem_`.',
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
  description: 'The user that the memory belongs to.',
  examples: ['u-1'],
});

export const memoryFields = {
  id: MemoryId,
  userId: UserId,
  content: Type.String({ description: 'The text, as it was accepted or made from a record.' }),
  metadata: Metadata,
  type: OpenEnum(types, typeDescription),
  source: Type.Union([Type.String(), Type.Null()], {
    description: 'The system that an ingested record came from.',
  }),
  externalId: Type.Union([Type.String(), Type.Null()], {
    description: 'The id of the record in that system. Identifies the memory, with `source`.',
  }),
  status: CurrentStatus,
  version: Type.Integer({
    minimum: 1,
    description: 'Counts the changes of content, metadata, occurredAt and expiresAt, from 1.',
  }),
  occurredAt: Type.Union([Time, Type.Null()], {
    description: 'When that of which the memory tells happened, where the caller knows.',
  }),
  expiresAt: Type.Union([Time, Type.Null()], {
    description: 'From then on the memory is nowhere to be found.',
  }),
  createdAt: Time,
  updatedAt: Time,
};

const [exampleId] = MemoryId.examples as [string];
const createdAt = '2026-11-20T10:00:00.000Z';

/** One of a shop's memories of its customer u-1, whom all examples are about. */
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

/** A piece of information that belongs to a user. */
export const Memory = Type.Object(memoryFields, {
  title: 'Memory',
  description: 'A piece of information that belongs to a user.',
  examples: [exampleMemory],
});
export type Memory = Static<typeof Memory>;

/** The response to a save: the memory, with its id also under the name that every write uses. */
export const SavedMemory = Type.Object(
  { ...memoryFields, memoryId: MemoryId },
  {
    title: 'SavedMemory',
    description: 'The memory that was saved. `memoryId` is its `id`, as in every write.',
    examples: [{ ...exampleMemory, memoryId: exampleId }],
  },
);
export type SavedMemory = Static<typeof SavedMemory>;

/**
 * The response to a save or an update whose key is repeated after the memory was deleted: the text
 * is gone, and nothing was written now.
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
      'The response to a repeated Idempotency-Key whose memory was deleted since: its text is gone.',
    examples: [{ id: exampleId, memoryId: exampleId, deleted: true }],
  },
);
export type DeletedSince = Static<typeof DeletedSince>;

const Content = Text({ max: limits.contentCharacters, description: 'The text to remember.' });

export const SaveRequest = Type.Object(
  { userId: UserId, content: Content, metadata: Type.Optional(Metadata) },
  {
    title: 'SaveRequest',
    additionalProperties: false,
    examples: [{ userId: 'u-1', content: 'Prefers dark mode', metadata: { source: 'chat' } }],
  },
);
export type SaveRequest = Static<typeof SaveRequest>;

/** Content is replaced as a whole; metadata too where it is given, else it stays. */
export const UpdateRequest = Type.Object(
  { content: Content, metadata: Type.Optional(Metadata) },
  {
    title: 'UpdateRequest',
    additionalProperties: false,
    examples: [{ content: 'Prefers dark mode, but not at noon' }],
  },
);
export type UpdateRequest = Static<typeof UpdateRequest>;
