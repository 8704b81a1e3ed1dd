/*
 * Labels at the start of lines. A label names a speaker ("Ana: …", "[8 May, 13:56] Ana: …") or the
 * role of a message in a chat with a language model ("user: …"). In other text, "Example:" and
 * "Step 2:" look the same, so a label counts only with evidence.
 */

/** "Customer Service Agent:" is a label; a sentence that contains a colon is not. */
const maxLabelLength = 40;
const fewWords = /^[^ ]+(?: [^ ]+){0,3}$/;
/** The pattern of a time before a label. */
export const timePattern = String.raw`(?:[[(][^\])\n]{1,40}[\])]|\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d\S*)?)`;
const stamp = new RegExp(String.raw`^\s*${timePattern}\s+`);

/** The roles of messages. "Human" and "AI" are not among them, because Ai is a name. */
export const roles = ['user', 'assistant', 'system', 'developer', 'tool'];

/**
 * Returns where a label may start in the line and where its colon is, or null. A label starts with
 * a letter, unless it is the author: a bullet, a heading, a quoted or an indented key is not one.
 */
export function labelIn(line: string, author = ''): { start: number; colon: number } | null {
  const isAuthor = author !== '' && line.startsWith(author);
  const start = startsWithLetter(line, 0) ? 0 : (stamp.exec(line)?.[0].length ?? 0);
  if (!isAuthor && !startsWithLetter(line, start)) return null;
  const colon = line.indexOf(': ', start);
  return colon <= start || colon - start >= maxLabelLength ? null : { start, colon };
}

export function isRole(name: string): boolean {
  return roles.includes(name.toLowerCase());
}

/** Returns whether a normalized text can be a speaker's name. A role names nobody. */
export function canBeSpeaker(label: string): boolean {
  return fewWords.test(label) && !roles.includes(label);
}

function startsWithLetter(line: string, start: number): boolean {
  const unit = line.charCodeAt(start) | 0x20;
  return (unit >= 0x61 && unit <= 0x7a) || /^\p{L}/u.test(line.slice(start, start + 2));
}
