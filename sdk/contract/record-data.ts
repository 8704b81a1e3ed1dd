import { type Static, Type } from '@sinclair/typebox';
import { conversation, document, event, profile, ticket } from './ingest-examples.ts';
import { limits } from './limits.ts';
import { type Metadata, Text, Timestamp } from './text.ts';

/* What the `data` of a record holds, by the type of the record. */

const closed = { additionalProperties: false };
const Label = Text({
  max: limits.labelCharacters,
  description: 'The speaker: user, agent, a name.',
});
/** Each entry takes two quotes, a character and a comma of the metadata, where the list lands. */
const TextList = Type.Array(Text(), { maxItems: limits.metadataBytes / 4 });

/** A comment or message. `author` and `role` mean the same; exactly one is given. */
export const TimelineEntry = Type.Object(
  {
    author: Type.Optional(Label),
    role: Type.Optional(Label),
    content: Text(),
    timestamp: Type.Optional(Timestamp),
  },
  {
    title: 'TimelineEntry',
    ...closed,
    oneOf: [{ required: ['author'] }, { required: ['role'] }],
    examples: [ticket.data.comments[0]],
  },
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
  { title: 'TicketData', ...closed, examples: [ticket.data] },
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
  { title: 'DocumentData', ...closed, examples: [document.data] },
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
  { title: 'ConversationData', ...closed, examples: [conversation.data] },
);
export type ConversationData = Omit<Static<typeof ConversationData>, 'messages'> & {
  messages: TimelineEntry[];
};

/** Any property besides `name` is content, and lands in the metadata as well. */
export const EventData = Type.Object(
  { name: Text() },
  {
    title: 'EventData',
    additionalProperties: true,
    description: 'Any property besides `name` is content, and lands in the metadata as well.',
    examples: [event.data],
  },
);
export type EventData = { name: string } & Metadata;

/** Any property besides `summary` is content, and lands in the metadata as well. */
export const ProfileData = Type.Object(
  { summary: Text() },
  {
    title: 'ProfileData',
    additionalProperties: true,
    description: 'Any property besides `summary` is content, and lands in the metadata as well.',
    examples: [profile.data],
  },
);
export type ProfileData = { summary: string } & Metadata;
