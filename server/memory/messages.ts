import { roles, timePattern } from '../search/labels.ts';

/**
 * A message of a chat with a language model: where it begins, the length of the time before its
 * label, and where its text begins.
 */
export type Message = { start: number; timeLength: number; textStart: number; isReply: boolean };

const roleLabel = new RegExp(String.raw`(${timePattern}[ \t]+)?(${roles.join('|')}): `, 'iy');
const singleRole = /^(?:user|assistant)$/i;

/** Returns whether a language model or one of its tools wrote the messages of this role. */
export function isReplyRole(role: string): boolean {
  return /^(?:assistant|tool)$/i.test(role);
}

/**
 * Returns the messages of a text that is a chat with a model: it contains questions and replies, or
 * it is one message. A ticket between "user" and "agent" is not one. The labels of a chat have one
 * form, so that a dialogue in another form, quoted in a message, is part of the message.
 */
export function messagesOf(content: string): Message[] {
  const labels = matchLines(content, roleLabel);
  if (labels.length === 0) return [];
  const messages: Message[] = [];
  let form = '';
  let isSingle = false;
  for (const { 0: label, 1: time = '', 2: role = '', index } of labels) {
    const own = `${time !== ''} ${role === role.toLowerCase()}`;
    form ||= own;
    if (own !== form) continue;
    isSingle = index === 0 && singleRole.test(role);
    const textStart = index + label.length;
    messages.push({ start: index, timeLength: time.length, textStart, isReply: isReplyRole(role) });
  }
  const replies = messages.filter(({ isReply }) => isReply).length;
  const isChat = messages.length === 1 ? isSingle : replies > 0 && replies < messages.length;
  return isChat ? messages : [];
}

/**
 * Matches the beginning of each line with a sticky pattern. This is several times faster than a
 * search with the flag `m`, which tries to match at every character.
 */
export function matchLines(content: string, sticky: RegExp): RegExpExecArray[] {
  const matches: RegExpExecArray[] = [];
  for (let start = 0, end = 0; end >= 0; start = end + 1) {
    sticky.lastIndex = start;
    const found = sticky.exec(content);
    if (found !== null) matches.push(found);
    end = content.indexOf('\n', start);
  }
  return matches;
}
