import type { TObject, TSchema } from '@sinclair/typebox';
import {
  Accepted,
  BatchAccepted,
  BatchRequest,
  ChatRequest,
  DocumentRequest,
  IngestRecord,
  SupportRequest,
} from '../../../sdk/contract/ingest.ts';
import { Memory, SavedMemory, SaveRequest, UpdateRequest } from '../../../sdk/contract/memory.ts';
import type { OperationName } from '../../../sdk/contract/operations.ts';
import { ListQuery, Page } from '../../../sdk/contract/page.ts';
import { Health, IngestStatus } from '../../../sdk/contract/status.ts';
import * as examples from './examples.ts';

export const tags = {
  Memories: 'What is known of a user, piece by piece.',
  Ingest: 'Five doors for records: tickets, documents, conversations, events and profiles.',
  Service: 'The service itself. Needs no key.',
};

/** What method and path do not tell of an operation. */
export type Documentation = {
  tag: keyof typeof tags;
  /** A few words, as in a table of contents. */
  summary: string;
  description: string;
  query?: { schema: TObject; example: { [name: string]: unknown } };
  request?: { schema: TSchema; examples: { [name: string]: unknown } };
  answer: Content;
  /** The answer names in `Location` where the status of the work is. */
  located?: true;
  /** What a 503 says beside the body of every error. */
  failing?: Content;
};

/** A body; without a schema there is none. */
export type Content = { description: string; schema?: TSchema; example?: unknown };

const queued = 'It is durably queued, and listed at once as `processing`.';
const again =
  'Ingesting the same `source` and `externalId` again for the same user replaces that memory ' +
  'under its id.';

/** The whole documentation: one entry for each operation, from which all else is derived. */
export const documentation: Record<OperationName, Documentation> = {
  save: {
    tag: 'Memories',
    summary: 'Save a memory',
    description: 'Stores a text for a user. It is `complete` at once.',
    request: { schema: SaveRequest, examples: { preference: examples.saveRequest } },
    answer: {
      description: 'The memory; `memoryId` is its `id`.',
      schema: SavedMemory,
      example: examples.savedMemory,
    },
  },
  list: {
    tag: 'Memories',
    summary: 'List the memories of a user',
    description:
      'Newest first, unless `order` says otherwise. Pass `nextCursor` on as `cursor` until it is ' +
      'null: such a walk sees every memory that was there when it began exactly once.',
    query: { schema: ListQuery, example: { userId: 'u-1', limit: 20, order: 'desc' } },
    answer: {
      description: 'One page; `nextCursor` is null at the end, and only there.',
      schema: Page,
      example: examples.page,
    },
  },
  get: {
    tag: 'Memories',
    summary: 'Get a memory',
    description: 'One memory by its id.',
    answer: { description: 'The memory.', schema: Memory, example: examples.memory },
  },
  update: {
    tag: 'Memories',
    summary: 'Update a memory',
    description:
      'Replaces the content, and the metadata where it is given, each as a whole. On a memory ' +
      'that is processing or has failed the update wins: it is `complete`.',
    request: { schema: UpdateRequest, examples: { content: examples.updateRequest } },
    answer: {
      description: 'The memory as it is now.',
      schema: Memory,
      example: examples.updatedMemory,
    },
  },
  delete: {
    tag: 'Memories',
    summary: 'Delete a memory',
    description: 'For good: it is gone from lists and from the queue when the answer comes.',
    answer: { description: 'It is deleted.' },
  },
  status: {
    tag: 'Memories',
    summary: 'Ask how far the work on a memory is',
    description:
      'True from the moment the ingest call answered. `chunksTotal` is 0 until the text is split.',
    answer: {
      description: 'How far the work is.',
      schema: IngestStatus,
      example: examples.ingestStatus,
    },
  },
  'ingest.support': {
    tag: 'Ingest',
    summary: 'Ingest a support ticket',
    description: `The content becomes the subject, the description and the comments. ${again}`,
    request: { schema: SupportRequest, examples: { ticket: examples.supportRequest } },
    answer: { description: queued, schema: Accepted, example: examples.accepted },
    located: true,
  },
  'ingest.document': {
    tag: 'Ingest',
    summary: 'Ingest a document',
    description: `The content becomes the text, unchanged; it may be as long as a body. ${again}`,
    request: { schema: DocumentRequest, examples: { document: examples.documentRequest } },
    answer: { description: queued, schema: Accepted, example: examples.acceptedWithoutSource },
    located: true,
  },
  'ingest.chat': {
    tag: 'Ingest',
    summary: 'Ingest a conversation',
    description: `The content becomes the title, the summary and the messages. ${again}`,
    request: { schema: ChatRequest, examples: { conversation: examples.chatRequest } },
    answer: { description: queued, schema: Accepted, example: examples.acceptedWithoutSource },
    located: true,
  },
  'ingest.record': {
    tag: 'Ingest',
    summary: 'Ingest a record of any type',
    description: `What \`data\` holds depends on \`type\`. ${again}`,
    request: { schema: IngestRecord, examples: examples.records },
    answer: { description: queued, schema: Accepted, example: examples.acceptedWithoutSource },
    located: true,
  },
  'ingest.batch': {
    tag: 'Ingest',
    summary: 'Ingest up to 1,000 records at once',
    description:
      'Bad items fail alone: look at `failedCount`. The good ones and this answer are committed ' +
      'together, under one Idempotency-Key. A bad envelope is a 400 and changes nothing.',
    request: { schema: BatchRequest, examples: { batch: examples.batchRequest } },
    answer: {
      description: 'What was accepted and what was not, each by its place in `items`.',
      schema: BatchAccepted,
      example: examples.batchAccepted,
    },
  },
  health: {
    tag: 'Service',
    summary: 'Ask how the service is',
    description: 'For load balancers and people. Needs no key.',
    answer: { description: 'It works.', schema: Health, example: examples.health },
    failing: {
      description: 'The database does not answer, the queue does not move, or it is shutting down.',
      schema: Health,
      example: examples.failingHealth,
    },
  },
};
