import { type Static, Type } from '@sinclair/typebox';
import { conversation, document, event, profile, ticket } from './ingest-examples.ts';
import { limits } from './limits.ts';
import { Count, type Metadata, Nullish, Text } from './text.ts';
import { Message, TimelineEntry, timelineItems } from './timeline.ts';

/* The schemas of a record's `data`, one for each type of record. */

const closed = { additionalProperties: false };
/** The list is copied to the metadata. One entry takes at least four bytes of JSON: `"x",`. */
const TextList = Type.Array(Text(), { maxItems: limits.metadataBytes / 4 });

/** An empty string is treated as omitted, like null. */
const OptionalText = Nullish(Text({ min: 0 }));

export const TicketData = Type.Object(
  {
    subject: Text(),
    comments: Type.Array(TimelineEntry, timelineItems),
    description: OptionalText,
    status: OptionalText,
    priority: OptionalText,
  },
  {
    title: 'TicketData',
    description: 'A support ticket. `subject`, `status` and `priority` are copied to the metadata.',
    ...closed,
    examples: [ticket.data],
  },
);
export type TicketData = Omit<Static<typeof TicketData>, 'comments'> & {
  comments: TimelineEntry[];
};

export const DocumentData = Type.Object(
  {
    text: Text(),
    title: OptionalText,
    mimeType: OptionalText,
    sourceUrl: OptionalText,
    pageCount: Type.Optional(Count()),
  },
  {
    title: 'DocumentData',
    description:
      'A document. `text` becomes the content unchanged. The other fields are copied to the ' +
      'metadata.',
    ...closed,
    examples: [document.data],
  },
);
export type DocumentData = Static<typeof DocumentData>;

export const Messages = Type.Array(Message, {
  ...timelineItems,
  description:
    'Messages with neither text nor tool calls are skipped. Without a title or a summary, at least ' +
    'one message must have text or a tool call.',
});

export const ConversationData = Type.Object(
  {
    messages: Messages,
    title: OptionalText,
    summary: OptionalText,
    participants: Type.Optional(TextList),
    tags: Type.Optional(TextList),
  },
  {
    title: 'ConversationData',
    description: 'A conversation. `title`, `participants` and `tags` are copied to the metadata.',
    ...closed,
    examples: [conversation.data],
  },
);
export type ConversationData = Omit<Static<typeof ConversationData>, 'messages'> & {
  messages: Message[];
};

/** Any property other than `name` is part of the content and is copied to the metadata. */
export const EventData = Type.Object(
  { name: Text() },
  {
    title: 'EventData',
    additionalProperties: true,
    description: 'Any property other than `name` becomes part of the content and of the metadata.',
    examples: [event.data],
  },
);
export type EventData = { name: string } & Metadata;

/** Any property other than `summary` is part of the content and is copied to the metadata. */
export const ProfileData = Type.Object(
  { summary: Text() },
  {
    title: 'ProfileData',
    additionalProperties: true,
    description:
      'Any property other than `summary` becomes part of the content and of the metadata.',
    examples: [profile.data],
  },
);
export type ProfileData = { summary: string } & Metadata;
