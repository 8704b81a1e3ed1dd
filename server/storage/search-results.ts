import type { MatchedBy } from '../../sdk/contract/search.ts';
import { type Found, foundJson } from '../memory/json.ts';
import type { Ranked, RankedMemory } from '../search/ranked.ts';
import { snippet } from '../search/snippet.ts';
import { announced } from '../threads/serve.ts';
import { tooMuchText } from './refusals.ts';
import type { ContentRange, ItemsJson, Part, Search, StoredMemory } from './types/memories.ts';

/**
 * The maximum amount of text in a response with several memories, in UTF-16 units. It is enough for
 * ten memories of the default maximum size.
 */
const maxTextUnits = 64 * 1024 * 1024;
/** Encoding more text than this, in UTF-16 units, may take a second on a busy machine. */
const largeUnits = 1_000_000;

export type SearchResults = ReturnType<typeof createSearchResults>;

export function createSearchResults(
  results: Ranked,
  { range, limit, explain }: Part & Pick<Search, 'limit' | 'explain'>,
) {
  const found: Found[] = [];
  let units = 0;
  return {
    /** The number of memories that are still to be found. */
    get room(): number {
      return limit - found.length;
    },
    /** Adds the next best memory, which matches the filter. */
    add(ranked: RankedMemory, memory: StoredMemory): void {
      const { score, parts } = ranked;
      const content = range === undefined ? memory.content : partOf(memory.content, range);
      units += content.length;
      if (found.length > 0 && units > maxTextUnits) throw tooMuchText(found.length);
      const match = {
        score,
        matchedBy: matchedBy(ranked),
        ...snippet(memory.content, results, ranked),
      };
      const shown = { memory: { ...memory, content }, ...match };
      found.push(explain ? { ...shown, parts } : shown);
    },
    /** Encodes the results as JSON, best first. */
    items(): ItemsJson {
      const encode = () => foundJson(found);
      return units > largeUnits ? announced(encode) : encode();
    },
  };
}

function matchedBy({ parts: { words, phrase }, isMeant }: RankedMemory): MatchedBy {
  if (!isMeant) return 'words';
  return words + phrase > 0 ? 'both' : 'meaning';
}

function partOf(text: string, { offset, length }: ContentRange): string {
  const end = offset + length;
  // A code point has at most two UTF-16 units.
  return [...text.slice(0, end * 2)].slice(offset, end).join('');
}
