import { Type } from '@sinclair/typebox';
import { limits } from './limits.ts';
import { List } from './list.ts';
import { Text } from './text.ts';

/*
 * The schemas for the content and the tool calls of a comment or message, in the format of the
 * model APIs. Unknown fields of parts and tool calls are accepted and ignored.
 */

const open = { additionalProperties: true };

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

export const MessageContent = Type.Union([Text({ min: 0 }), Type.Null(), List(MessagePart)], {
  title: 'MessageContent',
  description: 'A string, null, or a list of parts, whose text is joined by newlines.',
  examples: ['Where is my refund?'],
});

const Named = Type.Optional(Type.Object({ name: Text() }, open));
export const ToolCall = Type.Object(
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

export function partText({ type, text }: MessagePart): string {
  if (typeof text === 'string') return text;
  return type === 'text' ? '' : `[${type}]`;
}

export function callText(call: ToolCall): string {
  const { function: called, custom, name } = call as { function?: Named; custom?: Named } & Named;
  return `[tool call: ${called?.name ?? custom?.name ?? name ?? 'unknown'}]`;
}
