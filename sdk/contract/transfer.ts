import { type Static, Type } from '@sinclair/typebox';
import { limits } from './limits.ts';
import { type Memory, MemoryStatus, MemoryType, UserId } from './memory.ts';
import { Instant, Metadata, Text } from './text.ts';

/* Whole users at a time: erasing one, and taking memories out of one service and into another. */

export const DeleteAllQuery = Type.Object({ userId: UserId }, { additionalProperties: false });
export type DeleteAllQuery = Static<typeof DeleteAllQuery>;

export const Deleted = Type.Object(
  { deleted: Type.Integer({ minimum: 0, description: 'How many memories are gone.' }) },
  { additionalProperties: false, description: 'What was erased.' },
);
export type Deleted = Static<typeof Deleted>;

/** The query of an export, as parsed. Without a user it is all of the project. */
export const ExportQuery = Type.Object(
  {
    userId: Type.Optional(UserId),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limits.exportItems,
        default: limits.exportItems,
        description: 'The most memories in one page.',
      }),
    ),
    cursor: Type.Optional(
      Type.String({ description: 'nextCursor of the page before; with the same user.' }),
    ),
  },
  { additionalProperties: false },
);
export type ExportQuery = Static<typeof ExportQuery>;

const Name = Text({ max: limits.nameCharacters });
const Nullable = Type.Union([Name, Type.Null()]);

/** A memory as list and export give it, to be taken in as it was. */
export const ImportedMemory = Type.Object(
  {
    id: Type.String({ pattern: '^mem_[0-9A-Za-z_-]{1,64}$' }),
    userId: UserId,
    content: Text(),
    metadata: Metadata,
    type: MemoryType,
    source: Nullable,
    externalId: Nullable,
    status: MemoryStatus,
    version: Type.Optional(Type.Integer({ minimum: 1 })),
    occurredAt: Type.Optional(Type.Union([Instant, Type.Null()])),
    expiresAt: Type.Optional(Type.Union([Instant, Type.Null()])),
    createdAt: Instant,
    updatedAt: Instant,
  },
  { additionalProperties: false, description: 'A memory as list and export give it.' },
);

export const ImportRequest = Type.Object(
  { items: Type.Array(ImportedMemory, { minItems: 1, maxItems: limits.batchItems }) },
  { additionalProperties: false },
);
export type ImportRequest = { items: Memory[] };

const Count = Type.Integer({ minimum: 0 });

export const Imported = Type.Object(
  {
    imported: Count,
    skipped: Type.Integer({ minimum: 0, description: 'Their ids were there already.' }),
    failedCount: Count,
    failed: Type.Array(
      Type.Object(
        {
          index: Type.Integer({ minimum: 0, description: 'Place in the items sent, from 0.' }),
          error: Type.String(),
          message: Type.String(),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false, description: 'What became of the items of an import.' },
);
export type Imported = Static<typeof Imported>;
