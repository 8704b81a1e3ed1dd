import { readConversations } from '../../eval/data.ts';
import type { Random } from '../../support/random.ts';

/** Excerpts of conversations. */
export type Texts = {
  words(count: number): string;
  /** A sentence, sometimes a paragraph. */
  short(): string;
  /** Mostly a few pages, sometimes megabytes. */
  document(): string;
};

const maxDocumentUnits = 4_000_000;

export function createTexts(random: Random): Texts {
  const corpus = readConversations().turns.map(({ text }) => text);
  const words = corpus.join(' ').split(/\s+/);

  function excerpt(units: number): string {
    let text = '';
    while (text.length < units) text += `${random.pick(corpus)} ${random.pick(words)} `;
    return text.slice(0, units).trim();
  }

  return {
    words(count) {
      return Array.from({ length: count }, () => random.pick(words)).join(' ');
    },
    short: () => excerpt(40 + Math.floor(2_000 * random.next() ** 8) + random.between(0, 120)),
    document: () => excerpt(2_000 + Math.floor(maxDocumentUnits * random.next() ** 12)),
  };
}
