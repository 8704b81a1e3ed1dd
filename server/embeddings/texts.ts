import { splitChunks } from '../memory/chunks.ts';

/** The first chunks of a memory get vectors. A text of 5 MB would take minutes of a core. */
export const mostVectors = 64;

/**
 * Returns the texts of a memory that get a vector: vector i belongs to chunk i of the search index.
 * A model's reply gets only the first, because a long reply would otherwise be found with nearly
 * every question about its topic.
 */
export function textsToEmbed({ content, metadata }: { content: string; metadata: string }) {
  const { title, isReply } = about(metadata);
  const texts: string[] = [];
  let end = 0;
  for (const length of splitChunks(content)) {
    const text = content.slice(end, end + length);
    end += length;
    texts.push(texts.length === 0 && !text.includes(title) ? `${title}\n${text}` : text);
    if (isReply || texts.length === mostVectors) break;
  }
  return texts;
}

/** Identifies the texts, so that a change of tags embeds nothing again. */
export function hashOf(texts: readonly string[]): string {
  const hash = new Bun.CryptoHasher('sha256');
  for (const text of texts) hash.update(`${text.length} ${text}`);
  return hash.digest('base64').slice(0, 22);
}

/**
 * Returns whether at least half of a question's letters are Latin. The built-in model knows no
 * other script, and would only add noise.
 */
export function isLatin(question: string): boolean {
  const letters = question.match(/\p{L}/gu)?.length ?? 0;
  const latin = question.match(/\p{Script=Latin}/gu)?.length ?? 0;
  return latin * 2 >= letters;
}

function about(metadata: string): { title: string; isReply: boolean } {
  if (!/"(?:title|role)"/.test(metadata)) return { title: '', isReply: false };
  const { title, role }: Record<string, unknown> = JSON.parse(metadata);
  return { title: typeof title === 'string' ? title : '', isReply: role === 'assistant' };
}
