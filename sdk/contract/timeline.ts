import { Type } from '@sinclair/typebox';
import { ticket } from './ingest-examples.ts';
import { limits } from './limits.ts';
import { List } from './list.ts';
import { pointInTimeMs, Text, Timestamp } from './text.ts';

/*
 * The schemas of comments and messages. A message may have the format of the model APIs: its
 * content may be `null` or a list of parts, and it may have tool calls. Unknown fields of parts and
 * tool calls are accepted and ignored.
 */

const closed = { additionalProperties: false };
const open = { additionalProperties: true };

const Label = (description: string) =>
  Type.Optional(Text({ min: 0, max: limits.labelCharacters, description }));

const MessagePart = Type.Object(
  {
    type: Text({ max: limits.labelCharacters, description: 'For example `text` or `image_url`.' }),
    text: Type.Optional(Text({ min: 0, description: 'The text; only in a text part.' })),
  },
  {
    title: 'MessagePart',
    ...open,
    description:
      'A part of a message. A part other than text appears in the memory as its type: `[image_url]`.',
    examples: [{ type: 'text', text: 'Where is my refund?' }],
  },
);
/** Accepts object literals with additional fields, and the types of model API clients. */
export type MessagePart =
  | { type: string; text?: string | undefined }
  | { type: string; [field: string]: unknown };

const MessageContent = Type.Union([Text({ min: 0 }), Type.Null(), List(MessagePart)], {
  title: 'MessageContent',
  description: 'A string, null, or a list of parts, whose text is joined by newlines.',
  examples: ['Where is my refund?'],
});

const Named = Type.Optional(Type.Object({ name: Text() }, open));
const ToolCall = Type.Object(
  { function: Named, custom: Named, name: Type.Optional(Text()) },
  {
    title: 'ToolCall',
    ...open,
    description:
      'Appears in the memory as `[tool call: name]`, after the text. The arguments are ignored.',
    examples: [{ id: 'call_1', type: 'function', function: { name: 'search', arguments: '{}' } }],
  },
);
type Named = { name: string };
export type ToolCall =
  | { function?: Named | undefined; custom?: Named | undefined; name?: string | undefined }
  | { [field: string]: unknown };

/** A comment or message. */
export const TimelineEntry = Type.Object(
  {
    author: Label('The label of the entry, such as `user`, `agent` or a name.'),
    role: Label('The label if there is no `author`. Without both, the label is `unknown`.'),
    content: MessageContent,
    timestamp: Type.Optional(Timestamp),
    tool_calls: Type.Optional(List(ToolCall)),
    tool_call_id: Type.Optional(Text({ min: 0, description: 'Accepted but ignored.' })),
    name: Type.Optional(Text({ min: 0, description: 'Accepted but ignored.' })),
  },
  {
    title: 'TimelineEntry',
    ...closed,
    description: 'A comment or message. It is skipped if it has neither content nor tool calls.',
    examples: [
      ticket.data.comments[0],
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'search', arguments: '{}' } },
        ],
      },
    ],
  },
);
export type TimelineEntry = {
  content: string | null | MessagePart[];
  author?: string | undefined;
  role?: string | undefined;
  timestamp?: string | number | undefined;
  tool_calls?: ToolCall[] | undefined;
  tool_call_id?: string | undefined;
  name?: string | undefined;
};

export const timelineItems = { maxItems: limits.timelineEntries };

/** Returns the text of an entry; an empty string if there is none. */
export function entryText({ content, tool_calls = [] }: TimelineEntry): string {
  const parts = typeof content === 'string' ? [content] : (content ?? []).map(partText);
  const text = [...parts, ...tool_calls.map(callText)].filter((part) => part !== '').join('\n');
  return text.trim() === '' ? '' : text;
}

function partText({ type, text }: MessagePart): string {
  if (typeof text === 'string') return text;
  return type === 'text' ? '' : `[${type}]`;
}

function callText(call: ToolCall): string {
  const { function: called, custom, name } = call as { function?: Named; custom?: Named } & Named;
  return `[tool call: ${called?.name ?? custom?.name ?? name ?? 'unknown'}]`;
}

/** Converts a valid timestamp to milliseconds since 1970, or to null if it is omitted. */
export function timestampMs(timestamp: string | number | undefined): number | null {
  if (timestamp === undefined || timestamp === '') return null;
  return typeof timestamp === 'number' ? timestamp : pointInTimeMs(timestamp);
}
