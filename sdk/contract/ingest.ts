import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { conversation, document, event, messages, profile, ticket } from './ingest-examples.ts';
import { limits } from './limits.ts';
import {
  CurrentStatus,
  exampleMemory,
  type GivenMetadata,
  type GivenTime,
  type Memory,
  MemoryId,
  UserId,
} from './memory.ts';
import {
  ConversationData,
  DocumentData,
  EventData,
  Messages,
  ProfileData,
  TicketData,
} from './record-data.ts';
import { Count, described, Metadata, Nullable, Nullish, OptionalTime, Text } from './text.ts';
import type { Message } from './timeline.ts';

/*
 * The schemas of records, which five endpoints accept. The shape of a record's `data` depends on
 * its type.
 */

const closed = { additionalProperties: false };

const Source = Text({
  min: 0,
  max: limits.nameCharacters,
  description: 'The system that the record comes from.',
});
const ExternalId = Text({
  min: 0,
  max: limits.nameCharacters,
  description:
    "The record's id in the `source` system. Ingesting the same `source` and `externalId` again for " +
    'the same user replaces the memory.',
});
const OccurredAt = described(
  OptionalTime,
  'When the event that the record describes happened: an RFC 3339 time, or a date ' +
    '(midnight UTC). The default is the latest timestamp of the comments or messages.',
);
const ExpiresAt = described(
  OptionalTime,
  'When the memory expires: an RFC 3339 time, or a date (midnight UTC).',
);
const recordFields = {
  userId: UserId,
  source: Nullish(Source),
  externalId: Nullish(ExternalId),
  metadata: Type.Optional(Metadata),
  occurredAt: Nullish(OccurredAt),
  expiresAt: Nullish(ExpiresAt),
};

/** Creates the request schema of an endpoint that accepts one type of record. */
function request(title: string, description: string, data: TSchema, example: object) {
  const options = { title, description, ...closed, examples: [example] };
  return Type.Object({ ...recordFields, data }, options);
}

export const SupportRequest = request('SupportRequest', 'A ticket to ingest.', TicketData, ticket);
export const DocumentRequest = request(
  'DocumentRequest',
  'A document to ingest.',
  DocumentData,
  document,
);
export const ConversationRequest = request(
  'ConversationRequest',
  'A conversation to ingest, with its messages in `data`.',
  ConversationData,
  conversation,
);

/**
 * A conversation in the format of model APIs: `messages` is a top-level field instead of `data`.
 */
export const MessagesRequest = Type.Object(
  { ...recordFields, messages: Messages },
  {
    title: 'MessagesRequest',
    description: 'A conversation to ingest, with its messages as a top-level list.',
    ...closed,
    examples: [messages],
  },
);
export const ChatRequest = Type.Union([ConversationRequest, MessagesRequest], {
  title: 'ChatRequest',
  description: 'A conversation, with its messages in `data` or as a top-level list.',
  examples: [conversation, messages],
});

/** Creates the schema of a record with its type, for the endpoints that accept all types. */
function record(type: string, title: string, noun: string, data: TSchema, example: object) {
  const description = `${noun} to ingest, with its \`type\`.`;
  const options = { title, description, ...closed, examples: [{ type, ...example }] };
  return Type.Object({ type: Type.Literal(type), ...recordFields, data }, options);
}

export const recordSchemas = {
  ticket: record('ticket', 'TicketRecord', 'A ticket', TicketData, ticket),
  document: record('document', 'DocumentRecord', 'A document', DocumentData, document),
  conversation: record(
    'conversation',
    'ConversationRecord',
    'A conversation',
    ConversationData,
    conversation,
  ),
  event: record('event', 'EventRecord', 'An event', EventData, event),
  profile: record('profile', 'ProfileRecord', 'A profile', ProfileData, profile),
};
export type RecordType = keyof typeof recordSchemas;

export const IngestRecord = Type.Union(Object.values(recordSchemas), {
  title: 'IngestRecord',
  description: 'A record of the given `type`.',
  examples: Object.values(recordSchemas).flatMap(({ examples }) => examples),
});

/** Null in `source`, `externalId`, `occurredAt` or `expiresAt` counts as omitted. */
type RecordFields = {
  /** Optional with a key that is bound to a user. */
  userId?: string;
  source?: string | null | undefined;
  externalId?: string | null | undefined;
  metadata?: GivenMetadata | undefined;
  occurredAt?: GivenTime | null | undefined;
  expiresAt?: GivenTime | null | undefined;
};
export type SupportRequest = RecordFields & { data: TicketData };
export type DocumentRequest = RecordFields & { data: DocumentData };
export type ChatRequest = RecordFields &
  ({ data: ConversationData; messages?: undefined } | { messages: Message[]; data?: undefined });
export type IngestRecord =
  | (RecordFields & { type: 'ticket'; data: TicketData })
  | (RecordFields & { type: 'document'; data: DocumentData })
  | (RecordFields & { type: 'conversation'; data: ConversationData })
  | (RecordFields & { type: 'event'; data: EventData })
  | (RecordFields & { type: 'profile'; data: ProfileData });

/** A valid record, of a known user, as parsed from JSON. */
export type UserRecord = IngestRecord &
  Pick<Memory, 'userId'> &
  Partial<Pick<Memory, 'metadata' | 'occurredAt' | 'expiresAt'>>;

type MessagesRequest = RecordFields & { messages: Message[] };

/** Whether the request has `messages` as a top-level field. Validates nothing else. */
export function isMessagesRequest(value: unknown): value is MessagesRequest {
  return typeof value === 'object' && value !== null && 'messages' in value && !('data' in value);
}

/** Moves a request's messages into `data`. */
export function conversationOf({ messages, ...fields }: MessagesRequest) {
  return { ...fields, data: { messages } };
}

export const BatchRequest = Type.Object(
  { items: Type.Array(IngestRecord, { minItems: 1, maxItems: limits.batchItems }) },
  {
    title: 'BatchRequest',
    description: 'Records of any type. Each record is accepted or rejected on its own.',
    ...closed,
    examples: [{ items: [event, profile] }],
  },
);
export type BatchRequest = { items: IngestRecord[] };

/** The response to the ingest of one record, which is durably queued. */
export const Accepted = Type.Object(
  {
    memoryId: MemoryId,
    status: CurrentStatus,
    source: Nullable(Type.String()),
    externalId: Nullable(Type.String()),
  },
  {
    title: 'AcceptedRecord',
    description:
      'The record is durably queued and immediately listed as `processing`. If the memory was ' +
      '`complete` and equal to the record, nothing has changed, and it is still `complete`.',
    examples: [
      {
        memoryId: exampleMemory.id,
        status: 'processing',
        source: ticket.source,
        externalId: ticket.externalId,
      },
    ],
  },
);
export type Accepted = Static<typeof Accepted>;

const Index = Type.Integer({ minimum: 0, description: 'The position in `items`, from 0.' });

export const FailedItem = Type.Object(
  { index: Index, error: Type.String(), message: Type.String() },
  { title: 'FailedItem', description: 'An item that was rejected, and why.' },
);

/** The response to a batch: the accepted and the rejected items, each with its index. */
export const BatchAccepted = Type.Object(
  {
    accepted: Count(),
    failedCount: Count(),
    items: Type.Array(Type.Object({ index: Index, memoryId: MemoryId, status: CurrentStatus })),
    failed: Type.Array(FailedItem),
  },
  {
    title: 'AcceptedBatch',
    description: 'The accepted and the rejected items, each with its position in `items`.',
    examples: [
      {
        accepted: 1,
        failedCount: 1,
        items: [{ index: 0, memoryId: exampleMemory.id, status: 'processing' }],
        failed: [
          { index: 1, error: 'invalid_request', message: 'data.summary: must not be empty' },
        ],
      },
    ],
  },
);
export type BatchAccepted = Static<typeof BatchAccepted>;
