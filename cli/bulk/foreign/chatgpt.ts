import type { Losses } from './open.ts';

type Fields = Record<string, unknown>;
type Message = { role: string; content: string | object[]; timestamp?: number };

const messagesInRecord = 1_000;

/**
 * Converts a conversation in ChatGPT's conversations.json into one record, or into several if the
 * conversation exceeds the maximum number of messages. The messages form a tree; `current_node` is
 * the end of the branch that the user sees.
 */
export function* recordsOf(
  conversation: Fields,
  userId: string,
  losses: Losses,
): Generator<object> {
  const nodes = branchOf(conversation, losses);
  const messages = nodes.flatMap((node) => messageOf(fieldsOf(node.message), losses));
  if (messages.length === 0) return losses.add('conversations without messages');
  const id = String(conversation.conversation_id ?? conversation.id ?? '');
  const time = conversation.update_time ?? conversation.create_time;
  const dated = messages.some(({ timestamp }) => timestamp !== undefined);
  for (let at = 0; at < messages.length; at += messagesInRecord) {
    const part = at / messagesInRecord;
    const title = typeof conversation.title === 'string' ? { title: conversation.title } : {};
    yield {
      type: 'conversation',
      userId,
      source: 'chatgpt',
      // Without an id, no part has one, because parts with the same one would replace each other.
      externalId: part === 0 || id === '' ? id : `${id}#${part + 1}`,
      ...(!dated && typeof time === 'number' && { occurredAt: isoOf(time) }),
      data: { ...title, messages: messages.slice(at, at + messagesInRecord) },
    };
  }
}

function branchOf({ mapping, current_node: end }: Fields, losses: Losses): Fields[] {
  const nodes = new Map(Object.entries(fieldsOf(mapping)).map(([id, one]) => [id, fieldsOf(one)]));
  const branch = new Map<string, Fields>();
  let id = String(nodes.has(String(end)) ? end : [...nodes.keys()].at(-1));
  for (let node = nodes.get(id); node !== undefined && !branch.has(id); node = nodes.get(id)) {
    branch.set(id, node);
    id = String(node.parent);
  }
  const isAbandoned = ([name, node]: [string, Fields]) => !branch.has(name) && node.message != null;
  losses.add('messages on abandoned branches', [...nodes].filter(isAbandoned).length);
  return [...branch.values()].reverse();
}

/** Converts a message. Returns an empty list for hidden, system, tool and empty messages. */
function messageOf(message: Fields, losses: Losses): Message[] {
  const content = fieldsOf(message.content);
  const parts = Array.isArray(content.parts) ? content.parts : [];
  const role = String(fieldsOf(message.author).role ?? 'unknown');
  const isHidden =
    message.weight === 0 || fieldsOf(message.metadata).is_visually_hidden_from_conversation;
  if (parts.every((part) => part === '')) {
    if (parts.length === 0 && Object.keys(content).length > 0)
      losses.add(`${content.content_type}`);
    return [];
  }
  if (role === 'system' || isHidden) losses.add('hidden messages');
  else if (role === 'tool' || (message.recipient ?? 'all') !== 'all') losses.add('tool messages');
  else return [{ role, content: partsOf(parts, losses), ...timestampOf(message.create_time) }];
  return [];
}

function partsOf(parts: unknown[], losses: Losses): string | object[] {
  if (parts.every((part) => typeof part === 'string')) return parts.join('\n');
  return parts.map((part) => {
    if (typeof part === 'string') return { type: 'text', text: part };
    const { content_type: type, text } = fieldsOf(part);
    if (typeof text === 'string') return { type: 'text', text };
    losses.add('images and files');
    return { type: String(type ?? 'file').replace(/_asset_pointer$/, '') };
  });
}

function timestampOf(seconds: unknown): { timestamp?: number } {
  return typeof seconds === 'number' ? { timestamp: Math.round(seconds * 1_000) } : {};
}

function isoOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString();
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
