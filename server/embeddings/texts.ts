import { chunksOf, maxVectors, namesIn } from '../memory/chunks.ts';

/**
 * The version of the texts. It changes with everything that decides which texts a memory has,
 * because a stored vector belongs to the chunk at its position.
 */
export const textFormat = 2;

/**
 * Returns the texts of a memory that get a vector: text i belongs to chunk i of the search index. A
 * model's reply gets only the first, because a long reply would otherwise be found with nearly
 * every question about its topic. Its other chunks have null.
 */
export function textsToEmbed({ content, metadata }: { content: string; metadata: string }) {
  const { title } = namesIn(metadata);
  const texts: (string | null)[] = [];
  let count = 0;
  for (const { start, length, sender, isFirst } of chunksOf(content, metadata)) {
    if (count === maxVectors) break;
    const text = content.slice(start, start + length);
    const isEmbedded = sender !== 'model' || isFirst;
    if (isEmbedded) count += 1;
    const titled = start === 0 && !text.includes(title) ? `${title}\n${text}` : text;
    texts.push(isEmbedded ? titled : null);
  }
  return texts.slice(0, texts.findLastIndex((text) => text !== null) + 1);
}

/** Identifies the texts, so that a change of tags embeds nothing again. */
export function hashOf(texts: readonly (string | null)[]): string {
  const hash = new Bun.CryptoHasher('sha256');
  for (const text of texts) hash.update(`${text?.length} ${text}`);
  return hash.digest('base64').slice(0, 22);
}

/**
 * Returns whether at least half of a text's letters are Latin. The built-in model knows no other
 * script, and would only add noise.
 */
export function isLatin(text: string): boolean {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0;
  return latin * 2 >= letters;
}
