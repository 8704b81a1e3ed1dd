import { type Static, Type } from '@sinclair/typebox';
import { limits } from './limits.ts';
import { Metadata, Text } from './text.ts';

export const MemoryType = Type.Union([
  Type.Literal('memory'),
  Type.Literal('ticket'),
  Type.Literal('document'),
  Type.Literal('conversation'),
  Type.Literal('event'),
  Type.Literal('profile'),
]);
export type MemoryType = Static<typeof MemoryType>;

export const MemoryStatus = Type.Union([
  Type.Literal('processing'),
  Type.Literal('complete'),
  Type.Literal('failed'),
]);
export type MemoryStatus = Static<typeof MemoryStatus>;

/** RFC 3339, UTC, with milliseconds. */
export const Time = Type.String({ format: 'date-time', examples: ['2026-11-20T10:00:00.000Z'] });

export const UserId = Text({ max: limits.nameCharacters, description: 'Whose memory it is.' });

const memoryFields = {
  id: Type.String({ examples: ['mem_0199c2a4f1e87c3d9b5e6a7f80912b3c'] }),
  userId: Type.String(),
  content: Type.String(),
  metadata: Metadata,
  type: MemoryType,
  source: Type.Union([Type.String(), Type.Null()]),
  externalId: Type.Union([Type.String(), Type.Null()]),
  status: MemoryStatus,
  createdAt: Time,
  updatedAt: Time,
};

/** A piece of information that belongs to a user. */
export const Memory = Type.Object(memoryFields, { additionalProperties: false });
export type Memory = Static<typeof Memory>;

/** The answer to a save: the memory, with its id also under the name that every write uses. */
export const SavedMemory = Type.Object(
  { ...memoryFields, memoryId: Type.String() },
  { additionalProperties: false },
);
export type SavedMemory = Static<typeof SavedMemory>;

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
