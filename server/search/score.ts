// Temporary: a search over stored passages for server/memory/find.ts. Use index.ts.
import { type IndexedChunk, type Ranked, SearchIndex } from './index.ts';
import { Matcher } from './match.ts';
import type { Query } from './query.ts';
import { searchWeights } from './weights.ts';

export type SearchPassage = { memory: number; ordinal: number; folded: string };
export type Found = { passage: SearchPassage; score: number };

export class Search {
  matcher: Matcher;
  readonly #query: Query;
  readonly #chunks = new Map<number, IndexedChunk[]>();
  readonly #passages: SearchPassage[] = [];

  constructor(query: Query) {
    this.#query = query;
    this.matcher = new Matcher(query, searchWeights);
  }

  add(passage: SearchPassage): void {
    const chunks = this.#chunks.get(passage.memory) ?? [];
    this.#chunks.set(passage.memory, chunks);
    chunks.push({ start: this.#passages.push(passage) - 1, length: 0, text: passage.folded });
  }

  *bestInSteps(limit: number): Generator<undefined, Found[]> {
    const found: Found[] = [];
    for (const { start, score } of this.#rank()) {
      const passage = this.#passages[start];
      if (passage !== undefined && found.push({ passage, score }) === limit) break;
      yield;
    }
    return found;
  }

  #rank(): Ranked {
    const index = new SearchIndex();
    for (const [id, chunks] of this.#chunks) index.put({ id: `${id}`, createdAt: id, chunks });
    const ranked = index.search(this.#query);
    this.matcher = ranked.matcher;
    return ranked;
  }
}
