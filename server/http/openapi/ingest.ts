import {
  Accepted,
  BatchAccepted,
  BatchRequest,
  ChatRequest,
  DocumentRequest,
  IngestRecord,
  SupportRequest,
} from '../../../sdk/contract/ingest.ts';
import type { Documentation } from './documentation.ts';
import * as examples from './ingest-examples.ts';

const queued = 'It is durably queued, and listed at once as `processing`.';
const again =
  'Ingesting the same `source` and `externalId` again for the same user replaces that memory ' +
  'under its id.';

/** Five doors for records. */
export const ingest = {
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
} satisfies Record<string, Documentation>;
