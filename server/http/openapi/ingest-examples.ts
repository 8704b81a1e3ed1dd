import type {
  Accepted,
  BatchAccepted,
  BatchRequest,
  ChatRequest,
  DocumentRequest,
  IngestRecord,
  SupportRequest,
} from '../../../sdk/contract/ingest.ts';
import { memoryId } from './examples.ts';

/* The same story: what the shop's other systems know of u-1. */

export const supportRequest: SupportRequest = {
  userId: 'u-1',
  source: 'zendesk',
  externalId: '1182',
  data: {
    subject: 'Refund for order 5512',
    comments: [
      { author: 'user', content: 'Where is my refund?', timestamp: '2026-11-19T08:30:00Z' },
      { author: 'agent', content: 'It is on its way.' },
    ],
    status: 'open',
    priority: 'high',
  },
};

export const documentRequest: DocumentRequest = {
  userId: 'u-1',
  data: {
    text: 'Returns are accepted within 30 days of delivery.\n\nShipping is not refunded.',
    title: 'Return policy',
    mimeType: 'text/plain',
  },
};

export const chatRequest: ChatRequest = {
  userId: 'u-1',
  data: {
    messages: [
      { role: 'user', content: 'I moved to Bern last week.' },
      { role: 'assistant', content: 'Noted. Shall I change the delivery address?' },
    ],
    title: 'New address',
    tags: ['address'],
  },
};

const event: IngestRecord = {
  type: 'event',
  userId: 'u-1',
  data: { name: 'Upgraded the plan', plan: 'pro', seats: 5 },
};

const profile: IngestRecord = {
  type: 'profile',
  userId: 'u-1',
  data: { summary: 'Runs a small shop in Bern', language: 'de' },
};

export const records = {
  ticket: { type: 'ticket', ...supportRequest },
  document: { type: 'document', ...documentRequest },
  conversation: { type: 'conversation', ...chatRequest },
  event,
  profile,
} satisfies Record<IngestRecord['type'], IngestRecord>;

export const batchRequest: BatchRequest = { items: [event, profile] };

export const accepted: Accepted = {
  memoryId,
  status: 'processing',
  source: 'zendesk',
  externalId: '1182',
};

export const acceptedWithoutSource: Accepted = { ...accepted, source: null, externalId: null };

export const batchAccepted: BatchAccepted = {
  accepted: 1,
  failedCount: 1,
  items: [{ index: 0, memoryId, status: 'processing' }],
  failed: [{ index: 1, error: 'invalid_request', message: 'data.summary: must not be empty' }],
};
