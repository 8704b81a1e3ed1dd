import { addLoss, type Losses } from './memories.ts';

type Fields = Record<string, unknown>;
type Message = { role: string; content: string };

/**
 * Converts each message of a conversation in ChatGPT's conversations.json to a memory in the form
 * that `toMemory` reads. The messages form a tree; `current_node` is the end of the branch that the
 * user sees.
 */
export function* messagesOf(conversation: Fields, losses: Losses): Generator<Fields> {
  const branch = branchOf(conversation, losses);
  const conversationId = conversation.conversation_id ?? conversation.id ?? '';
  /** A message without a time has that of the last message before it, or of the conversation. */
  let occurredMs = msOf(conversation.create_time) ?? msOf(conversation.update_time);
  let lastMs = Number.NEGATIVE_INFINITY;
  for (const [id, node] of branch) {
    const message = fieldsOf(node.message);
    occurredMs = msOf(message.create_time) ?? occurredMs;
    for (const { role, content } of messageOf(message, losses)) {
      // Memories are ordered by their creation, so two messages are not created at the same time.
      if (occurredMs !== null) lastMs = Math.max(occurredMs, lastMs + 1);
      yield {
        memory: content,
        id: `${conversationId}#${id}`,
        metadata: { role, conversation: conversation.title ?? undefined },
        ...(occurredMs !== null && { occurred_at: isoOf(occurredMs), created_at: isoOf(lastMs) }),
      };
    }
  }
}

function branchOf({ mapping, current_node: end }: Fields, losses: Losses): [string, Fields][] {
  const nodes = new Map(Object.entries(fieldsOf(mapping)).map(([id, one]) => [id, fieldsOf(one)]));
  const branch = new Map<string, Fields>();
  let id = String(nodes.has(String(end)) ? end : [...nodes.keys()].at(-1));
  for (let node = nodes.get(id); node !== undefined && !branch.has(id); node = nodes.get(id)) {
    branch.set(id, node);
    id = String(node.parent);
  }
  const isAbandoned = ([name, node]: [string, Fields]) => !branch.has(name) && node.message != null;
  addLoss(losses, 'messages on abandoned branches', [...nodes].filter(isAbandoned).length);
  return [...branch].reverse();
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
      addLoss(losses, `${content.content_type}`);
    return [];
  }
  if (role === 'system' || isHidden) addLoss(losses, 'hidden messages');
  else if (role === 'tool' || (message.recipient ?? 'all') !== 'all')
    addLoss(losses, 'tool messages');
  else return [{ role, content: textOf(parts, losses) }];
  return [];
}

function textOf(parts: unknown[], losses: Losses): string {
  const texts = parts.map((part) => {
    if (typeof part === 'string') return part;
    const { content_type: type, text } = fieldsOf(part);
    if (typeof text === 'string') return text;
    addLoss(losses, 'images and files');
    return `[${String(type ?? 'file').replace(/_asset_pointer$/, '')}]`;
  });
  return texts.join('\n');
}

/** A time before about the year 69 or after 3871 is an error in the export. */
function msOf(seconds: unknown): number | null {
  const isTime = typeof seconds === 'number' && Math.abs(seconds) < 6e10;
  return isTime ? Math.round(seconds * 1_000) : null;
}

const isoOf = (ms: number) => new Date(ms).toISOString();

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
