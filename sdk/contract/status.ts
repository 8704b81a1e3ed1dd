import { type Static, Type } from '@sinclair/typebox';
import { limits } from './limits.ts';
import { CurrentStatus, exampleMemory, MemoryId, Time } from './memory.ts';
import { Count, Nullable, OpenEnum, Text } from './text.ts';

/** What the queue knows of a memory. */
export const taskFields = {
  attempts: Count('The number of processing attempts.'),
  errorMessage: Nullable(Type.String(), {
    description: 'Why the last attempt failed; null if it did not fail.',
  }),
};

/** The processing status of a memory. */
export const IngestStatus = Type.Object(
  {
    memoryId: MemoryId,
    status: CurrentStatus,
    chunksComplete: Count('The number of indexed chunks.'),
    chunksTotal: Count('The total number of chunks; 0 until the text has been split.'),
    ...taskFields,
    createdAt: Time,
    updatedAt: Time,
  },
  {
    title: 'IngestStatus',
    description: 'The processing status of a memory.',
    examples: [
      {
        memoryId: exampleMemory.id,
        status: 'complete',
        chunksComplete: 2,
        chunksTotal: 2,
        attempts: 1,
        errorMessage: null,
        createdAt: exampleMemory.createdAt,
        updatedAt: '2026-11-20T10:00:02.000Z',
      },
    ],
  },
);
export type IngestStatus = Static<typeof IngestStatus>;

export const StatusesRequest = Type.Object(
  {
    memoryIds: Type.Array(Text({ max: limits.nameCharacters }), {
      minItems: 1,
      maxItems: limits.batchItems,
    }),
  },
  {
    title: 'StatusesRequest',
    description: 'The ids of the memories whose status is requested.',
    additionalProperties: false,
    examples: [{ memoryIds: [exampleMemory.id, 'mem_unknown'] }],
  },
);
export type StatusesRequest = { memoryIds: string[] };

/** The statuses of many memories, in request order. */
export const IngestStatuses = Type.Object(
  {
    items: Type.Array(IngestStatus),
    notFound: Type.Array(Type.String(), { description: 'The ids for which there is no memory.' }),
  },
  {
    title: 'IngestStatuses',
    description: 'The processing statuses of many memories, in the order requested.',
    examples: [{ items: IngestStatus.examples, notFound: ['mem_unknown'] }],
  },
);
export type IngestStatuses = Static<typeof IngestStatuses>;

const exampleHealth = {
  status: 'ok',
  version: '0.1.0',
  storage: 'sqlite',
  pending: 0,
  oldestPendingSeconds: null,
  embeddings: { model: 'all-MiniLM-L6-v2', pending: 0 },
};

export const Health = Type.Object(
  {
    status: OpenEnum(['ok', 'failing'], 'Whether the service works correctly.'),
    version: Type.String(),
    storage: Type.String({ examples: ['sqlite'] }),
    pending: Count('The number of records that are waiting or being processed.'),
    oldestPendingSeconds: Nullable(Type.Number({ minimum: 0 }), {
      description: 'The age of the oldest pending record in seconds; null if there is none.',
    }),
    embeddings: Type.Object(
      {
        model: Nullable(Type.String(), {
          description: 'The model that searches by meaning; null if there is none.',
        }),
        pending: Count('An estimate of the number of memories without vectors of this model.'),
      },
      { description: 'The search by meaning.' },
    ),
    message: Type.Optional(Type.String({ description: 'What is wrong, if anything.' })),
  },
  {
    title: 'Health',
    description: "The service's health.",
    examples: [
      exampleHealth,
      { ...exampleHealth, status: 'failing', message: 'the database does not respond' },
    ],
  },
);
export type Health = Static<typeof Health>;

/** The response of GET /health/live. Any response shows that the process is alive. */
export const Liveness = Type.Object(
  { status: Type.String() },
  { title: 'Liveness', description: 'The process responds.', examples: [{ status: 'ok' }] },
);
export type Liveness = Static<typeof Liveness>;
