import { type Static, Type } from '@sinclair/typebox';
import { limits } from './limits.ts';
import { Metadata, Text } from './text.ts';

export const MemoryType = Type.Union(
  [
    Type.Literal('memory'),
    Type.Literal('ticket'),
    Type.Literal('document'),
    Type.Literal('conversation'),
    Type.Literal('event'),
    Type.Literal('profile'),
  ],
  { description: '`memory` was saved directly; the others were ingested as such a record.' },
);
export type MemoryType = Static<typeof MemoryType>;

export const MemoryStatus = Type.Union(
  [Type.Literal('processing'), Type.Literal('complete'), Type.Literal('failed')],
  { description: 'From `processing` to `complete` or `failed`; `complete` at once when saved.' },
);
export type MemoryStatus = Static<typeof MemoryStatus>;

/** RFC 3339, UTC, with milliseconds. */
export const Time = Type.String({
  format: 'date-time',
  description: 'RFC 3339, UTC, with milliseconds.',
  examples: ['2026-11-20T10:00:00.000Z'],
});

export const UserId = Text({ max: limits.nameCharacters, description: 'Whose memory it is.' });

export const memoryFields = {
  id: Type.String({
    description: 'Opaque; begins with mem_.',
    examples: ['mem_0199c2a4f1e87c3d9b5e6a7f80912b3c'],
  }),
  userId: Type.String({ description: 'Whose memory it is.' }),
  content: Type.String({ description: 'The text, as it was accepted or made from a record.' }),
  metadata: Metadata,
  type: MemoryType,
  source: Type.Union([Type.String(), Type.Null()], {
    description: 'The system that an ingested record came from.',
  }),
  externalId: Type.Union([Type.String(), Type.Null()], {
    description: 'Its name in that system. With `source` it finds the memory again.',
  }),
  status: MemoryStatus,
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

/** A piece of information that belongs to a user. */
export const Memory = Type.Object(memoryFields, {
  additionalProperties: false,
  description: 'A piece of information that belongs to a user.',
});
export type Memory = Static<typeof Memory>;

/** The answer to a save: the memory, with its id also under the name that every write uses. */
export const SavedMemory = Type.Object(
  { ...memoryFields, memoryId: Type.String({ description: 'The same as `id`.' }) },
  { additionalProperties: false, description: 'The memory that was saved.' },
);
export type SavedMemory = Static<typeof SavedMemory>;

/**
 * What a save or an update is answered when its key is repeated after the memory was deleted: the
 * text is gone, and nothing was written now.
 */
export const DeletedSince = Type.Object(
  {
    id: Type.String(),
    memoryId: Type.String({ description: 'The same as `id`.' }),
    deleted: Type.Literal(true),
  },
  {
    additionalProperties: false,
    description: 'The answer to a repeated key whose memory was deleted since: its text is gone.',
  },
);
export type DeletedSince = Static<typeof DeletedSince>;

const Content = Text({ max: limits.contentCharacters, description: 'The text to remember.' });

export const SaveRequest = Type.Object(
  { userId: UserId, content: Content, metadata: Type.Optional(Metadata) },
  { additionalProperties: false },
);
export type SaveRequest = Static<typeof SaveRequest>;

/** Content is replaced whole; metadata too where it is given, else it stays. */
export const UpdateRequest = Type.Object(
  { content: Content, metadata: Type.Optional(Metadata) },
  { additionalProperties: false },
);
export type UpdateRequest = Static<typeof UpdateRequest>;
