import { type Static, Type } from '@sinclair/typebox';
import { MemoryStatus, Time } from './memory.ts';

/** How far the work on a memory is. */
export const IngestStatus = Type.Object(
  {
    memoryId: Type.String(),
    status: MemoryStatus,
    chunksComplete: Type.Integer({ minimum: 0, description: 'Passages that are stored.' }),
    chunksTotal: Type.Integer({ minimum: 0, description: '0 until the text is split.' }),
    attempts: Type.Integer({ minimum: 0, description: 'How often the work was begun.' }),
    errorMessage: Type.Union([Type.String(), Type.Null()], {
      description: 'Why the last attempt failed.',
    }),
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
    pending: Type.Integer({ minimum: 0, description: 'Records that wait or are worked on.' }),
    oldestPendingSeconds: Type.Union([Type.Number({ minimum: 0 }), Type.Null()], {
      description: 'How long the oldest of them has waited.',
    }),
    message: Type.Optional(Type.String({ description: 'What is wrong, where it is failing.' })),
  },
  { additionalProperties: false },
);
export type Health = Static<typeof Health>;
