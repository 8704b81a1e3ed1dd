import { type Static, Type } from '@sinclair/typebox';
import { MemoryStatus, Time } from './memory.ts';

const Count = Type.Integer({ minimum: 0 });

/** How far the work on a memory is. */
export const IngestStatus = Type.Object(
  {
    memoryId: Type.String(),
    status: MemoryStatus,
    chunksComplete: Count,
    chunksTotal: Type.Integer({ minimum: 0, description: '0 until the text is split.' }),
    attempts: Count,
    errorMessage: Type.Union([Type.String(), Type.Null()]),
    createdAt: Time,
    updatedAt: Time,
  },
  { additionalProperties: false },
);
export type IngestStatus = Static<typeof IngestStatus>;

export const Health = Type.Object(
  {
    status: Type.Union([Type.Literal('ok'), Type.Literal('failing')]),
    version: Type.String(),
    storage: Type.String({ examples: ['sqlite'] }),
    pending: Count,
    oldestPendingSeconds: Type.Union([Type.Number({ minimum: 0 }), Type.Null()]),
    message: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);
export type Health = Static<typeof Health>;
