import { type Static, Type } from '@sinclair/typebox';
import { FailedItem } from './ingest.ts';
import { limits } from './limits.ts';
import { exampleMemory, type Memory, MemoryStatus, MemoryType, UserId } from './memory.ts';
import { Cursor, Limit } from './page.ts';
import { Count, Instant, Metadata, Nullable, Text } from './text.ts';

/* The schemas for erasing a user's memories and for moving memories between services. */

export const DeleteAllQuery = Type.Object({ userId: UserId }, { additionalProperties: false });
export type DeleteAllQuery = {
  /** Optional with a key that is bound to a user. */
  userId?: string;
};

export const Deleted = Type.Object(
  { deleted: Count('The number of deleted memories.') },
  {
    title: 'DeletedMemories',
    description: 'The number of deleted memories; 0 if the user had none.',
    examples: [{ deleted: 42 }],
  },
);
export type Deleted = Static<typeof Deleted>;

/** The query of an export after parsing. Without `userId`, the export covers the whole project. */
export const ExportQuery = Type.Object(
  {
    userId: Type.Optional(UserId),
    limit: Limit('The maximum number of memories per page.', {
      max: limits.exportItems,
      preset: limits.exportItems,
    }),
    cursor: Cursor(
      'The `nextCursor` of the previous page. The string is opaque and valid only with the same `userId`.',
    ),
  },
  { additionalProperties: false },
);
export type ExportQuery = {
  userId?: string;
  /** The maximum number of memories in the page: 1 to 1,000, default 1,000. */
  limit?: number | undefined;
  /** The `nextCursor` of the previous page, for the same user; null for the first page. */
  cursor?: string | null | undefined;
};

const Name = Text({ max: limits.nameCharacters });

/** A memory in the format returned by list and export. An import stores it unchanged. */
export const ImportedMemory = Type.Object(
  {
    id: Type.String({ pattern: '^mem_[0-9A-Za-z_-]{1,64}$' }),
    userId: UserId,
    content: Text(),
    metadata: Metadata,
    type: MemoryType,
    source: Nullable(Name),
    externalId: Nullable(Name),
    status: MemoryStatus,
    version: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.importedVersion })),
    occurredAt: Type.Optional(Nullable(Instant)),
    expiresAt: Type.Optional(Nullable(Instant)),
    createdAt: Instant,
    updatedAt: Instant,
  },
  {
    title: 'ImportedMemory',
    additionalProperties: false,
    description: 'A memory in the format returned by list and export.',
    examples: [exampleMemory],
  },
);

export const ImportRequest = Type.Object(
  { items: Type.Array(ImportedMemory, { minItems: 1, maxItems: limits.batchItems }) },
  {
    title: 'ImportRequest',
    description: 'Memories to import. A memory whose id already exists is skipped.',
    additionalProperties: false,
    examples: [{ items: [exampleMemory] }],
  },
);
export type ImportRequest = { items: Memory[] };

export const Imported = Type.Object(
  {
    imported: Count(),
    skipped: Count('The number of items whose id already exists.'),
    failedCount: Count(),
    failed: Type.Array(FailedItem),
  },
  {
    title: 'ImportReport',
    description: 'The numbers of imported, skipped and failed items, and the failed items.',
    examples: [
      {
        imported: 1,
        skipped: 0,
        failedCount: 1,
        failed: [{ index: 1, error: 'invalid_request', message: 'content: must not be empty' }],
      },
    ],
  },
);
export type Imported = Static<typeof Imported>;
