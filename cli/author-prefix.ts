import { usageError } from './client/errors.ts';

/** `user: Where is it?` → who spoke, and what. */
export function splitAuthor<Name extends 'author' | 'role'>(
  text: string,
  option: string,
  name: Name,
) {
  const [, speaker, content] = /^\s*([^:]*[^:\s])\s*:\s*(.+)$/s.exec(text) ?? [];
  if (speaker === undefined || content === undefined) {
    throw usageError(
      `${option} "${text}" does not say who spoke.`,
      `Write it as: ${option} "user: Where is it?"`,
    );
  }
  return { [name]: speaker, content } as { [Key in Name]: string } & { content: string };
}
