import { type Static, Type } from '@sinclair/typebox';
import { limits } from './limits.ts';
import { MemoryStatus, UserId } from './memory.ts';
import { Metadata, Text, Timestamp } from './text.ts';

/*
 * One idea, the record, and five doors to it. A record says whose it is and where it came from;
 * what its `data` holds depends on its type.
 */

const closed = { additionalProperties: false };
const Label = Text({ max: limits.labelCharacters, description: 'Who spoke: user, agent, a name.' });
/** Each entry takes two quotes, a character and a comma of the metadata, where the list lands. */
const TextList = Type.Array(Text(), { maxItems: limits.metadataBytes / 4 });

/** A line of a timeline. `author` and `role` mean the same; exactly one is given. */
export const TimelineEntry = Type.Object(
  {
    author: Type.Optional(Label),
    role: Type.Optional(Label),
    content: Text(),
    timestamp: Type.Optional(Timestamp),
  },
  { ...closed, oneOf: [{ required: ['author'] }, { required: ['role'] }] },
);
export type TimelineEntry = { content: string; timestamp?: string | number } & (
  | { author: string; role?: never }
  | { role: string; author?: never }
);

const Timeline = { maxItems: limits.timelineEntries };

export const TicketData = Type.Object(
  {
    subject: Text(),
    comments: Type.Array(TimelineEntry, Timeline),
    description: Type.Optional(Text()),
    status: Type.Optional(Text()),
    priority: Type.Optional(Text()),
  },
  closed,
);
export type TicketData = Omit<Static<typeof TicketData>, 'comments'> & {
  comments: TimelineEntry[];
};

export const DocumentData = Type.Object(
  {
    text: Text(),
    title: Type.Optional(Text()),
    mimeType: Type.Optional(Text()),
    sourceUrl: Type.Optional(Text()),
    pageCount: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  closed,
);
export type DocumentData = Static<typeof DocumentData>;

export const ConversationData = Type.Object(
  {
    messages: Type.Array(TimelineEntry, { minItems: 1, ...Timeline }),
    title: Type.Optional(Text()),
    summary: Type.Optional(Text()),
    participants: Type.Optional(TextList),
    tags: Type.Optional(TextList),
  },
  closed,
);
export type ConversationData = Omit<Static<typeof ConversationData>, 'messages'> & {
  messages: TimelineEntry[];
};

/** Any property besides `name` is content, and lands in the metadata as well. */
export const EventData = Type.Object({ name: Text() }, { additionalProperties: true });
export type EventData = { name: string } & Metadata;

/** Any property besides `summary` is content, and lands in the metadata as well. */
export const ProfileData = Type.Object({ summary: Text() }, { additionalProperties: true });
export type ProfileData = { summary: string } & Metadata;

const Source = Text({
  max: limits.nameCharacters,
  description: 'The system that the record comes from.',
});
const ExternalId = Text({
  max: limits.nameCharacters,
  description: 'Its name there. The same pair again replaces the memory of that user.',
});
const envelope = {
  userId: UserId,
  source: Type.Optional(Source),
  externalId: Type.Optional(ExternalId),
  metadata: Type.Optional(Metadata),
};

export const SupportRequest = Type.Object({ ...envelope, data: TicketData }, closed);
export const DocumentRequest = Type.Object({ ...envelope, data: DocumentData }, closed);
export const ChatRequest = Type.Object({ ...envelope, data: ConversationData }, closed);

/** The schema of a record by its type. */
export const recordSchemas = {
  ticket: Type.Object({ type: Type.Literal('ticket'), ...envelope, data: TicketData }, closed),
  document: Type.Object(
    { type: Type.Literal('document'), ...envelope, data: DocumentData },
    closed,
  ),
  conversation: Type.Object(
    { type: Type.Literal('conversation'), ...envelope, data: ConversationData },
    closed,
  ),
  event: Type.Object({ type: Type.Literal('event'), ...envelope, data: EventData }, closed),
  profile: Type.Object({ type: Type.Literal('profile'), ...envelope, data: ProfileData }, closed),
};
export type RecordType = keyof typeof recordSchemas;

export const IngestRecord = Type.Union(Object.values(recordSchemas));

type Envelope = { userId: string; source?: string; externalId?: string; metadata?: Metadata };
export type SupportRequest = Envelope & { data: TicketData };
export type DocumentRequest = Envelope & { data: DocumentData };
export type ChatRequest = Envelope & { data: ConversationData };
export type IngestRecord =
  | (Envelope & { type: 'ticket'; data: TicketData })
  | (Envelope & { type: 'document'; data: DocumentData })
  | (Envelope & { type: 'conversation'; data: ConversationData })
  | (Envelope & { type: 'event'; data: EventData })
  | (Envelope & { type: 'profile'; data: ProfileData });

export const BatchRequest = Type.Object(
  { items: Type.Array(IngestRecord, { minItems: 1, maxItems: limits.batchItems }) },
  closed,
);
export type BatchRequest = { items: IngestRecord[] };

/** The answer to one record, once it is durably queued. */
export const Accepted = Type.Object(
  {
    memoryId: Type.String(),
    status: MemoryStatus,
    source: Type.Union([Type.String(), Type.Null()]),
    externalId: Type.Union([Type.String(), Type.Null()]),
  },
  closed,
);
export type Accepted = Static<typeof Accepted>;

const Index = Type.Integer({ minimum: 0, description: 'Place in the items sent, from 0.' });

/** The answer to a batch: what was accepted and what was not, each with its place. */
export const BatchAccepted = Type.Object(
  {
    accepted: Type.Integer({ minimum: 0 }),
    failedCount: Type.Integer({ minimum: 0 }),
    items: Type.Array(
      Type.Object({ index: Index, memoryId: Type.String(), status: MemoryStatus }, closed),
    ),
    failed: Type.Array(
      Type.Object({ index: Index, error: Type.String(), message: Type.String() }, closed),
    ),
  },
  closed,
);
export type BatchAccepted = Static<typeof BatchAccepted>;
