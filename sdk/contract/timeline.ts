import { Type } from '@sinclair/typebox';
import { messageExamples, ticket } from './ingest-examples.ts';
import { limits } from './limits.ts';
import { List } from './list.ts';
import { callText, MessageContent, type MessagePart, partText, ToolCall } from './message-parts.ts';
import { Nullish, Text, Timestamp } from './text.ts';
import { optionalTimeMs } from './times.ts';

/*
 * The schemas of comments and messages. A message may have any field of a message in OpenAI's Chat
 * Completions API or Anthropic's Messages API.
 */

const closed = { additionalProperties: false };
const open = { additionalProperties: true };

const Label = (description: string) => Text({ min: 0, max: limits.labelCharacters, description });
const Author = Label('The label of the entry, such as `user`, `agent` or a name.');
const Role = Label('The label if there is no `author`. Without either, the label is `unknown`.');
const ignored = { description: 'Accepted but ignored.' };
const IgnoredText = Text({ min: 0, ...ignored });

/** A comment on a ticket. */
export const TimelineEntry = Type.Object(
  {
    author: Type.Optional(Author),
    role: Type.Optional(Role),
    content: MessageContent,
    timestamp: Type.Optional(Timestamp),
    tool_calls: Type.Optional(List(ToolCall)),
    tool_call_id: Type.Optional(IgnoredText),
    name: Type.Optional(IgnoredText),
  },
  {
    title: 'TimelineEntry',
    ...closed,
    description: 'A comment. It is skipped if it has neither content nor tool calls.',
    examples: [ticket.data.comments[0]],
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

/** The fields of a model API's message that are not part of the memory. */
const ignoredFields = [
  'annotations',
  'audio',
  'id',
  'type',
  'model',
  'stop_reason',
  'stop_sequence',
  'stop_details',
  'container',
  'usage',
] as const;

const Refusal = Text({
  min: 0,
  description: 'The text of the message if `content` is null or omitted.',
});
const FunctionCall = Type.Object(
  { name: Text() },
  { ...open, description: 'Appears in the memory like a tool call: `[tool call: name]`.' },
);

/** A message in a conversation. */
export const Message = Type.Object(
  {
    author: Nullish(Author),
    role: Nullish(Role),
    content: Type.Optional(MessageContent),
    timestamp: Nullish(Timestamp),
    tool_calls: Nullish(List(ToolCall)),
    tool_call_id: Nullish(IgnoredText),
    name: Nullish(IgnoredText),
    refusal: Nullish(Refusal),
    function_call: Nullish(FunctionCall),
    ...Object.fromEntries(
      ignoredFields.map((name) => [name, Type.Optional(Type.Unknown(ignored))]),
    ),
  },
  {
    title: 'Message',
    ...closed,
    description:
      "A message, which may have the fields of a message in OpenAI's Chat Completions API or " +
      "Anthropic's Messages API. A message with neither text nor tool calls is skipped.",
    examples: messageExamples,
  },
);
export type Message = {
  content?: string | null | MessagePart[] | undefined;
  author?: string | null | undefined;
  role?: string | null | undefined;
  timestamp?: string | number | null | undefined;
  tool_calls?: ToolCall[] | null | undefined;
  tool_call_id?: string | null | undefined;
  name?: string | null | undefined;
  refusal?: string | null | undefined;
  function_call?: { name: string; arguments?: unknown } | null | undefined;
} & { [name in (typeof ignoredFields)[number]]?: unknown };

export const timelineItems = { maxItems: limits.timelineEntries };

/** Returns the text of an entry; an empty string if there is none. */
export function entryText({ content, refusal, tool_calls, function_call }: Message): string {
  const body = content ?? refusal ?? [];
  const parts = typeof body === 'string' ? [body] : body.map(partText);
  const calls = [...(tool_calls ?? []), ...(function_call ? [function_call] : [])].map(callText);
  const text = [...parts, ...calls].filter((part) => part !== '').join('\n');
  return text.trim() === '' ? '' : text;
}

/** Converts a valid timestamp to milliseconds since 1970, or to null if it is omitted. */
export function timestampMs(timestamp: string | number | null | undefined): number | null {
  return typeof timestamp === 'number' ? timestamp : optionalTimeMs(timestamp);
}
