import type { Query } from './query.ts';
import { Search } from './score.ts';
type Chunk = { start: number; length: number; text: string };
export class SearchIndex {
  #m = new Map<string, { id: string; createdAt: number; chunks: readonly Chunk[] }>();
  put(m: { id: string; createdAt: number; chunks: readonly Chunk[] }) { this.#m.set(m.id, m); }
  remove(id: string) { this.#m.delete(id); }
  get size() { return this.#m.size; }
  get bytes() { return 0; }
  ids() { return this.#m.keys(); }
  search(query: Query) {
    const s = new Search(query);
    const all = [...this.#m.values()].sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
    all.forEach((m, i) => m.chunks.forEach((c, ordinal) => s.add({ memory: i, ordinal, folded: c.text })));
    const best = s.best(1e9).map(({ passage, score }) => { const m = all[passage.memory]!; const c = m.chunks[passage.ordinal]!; return { id: m.id, start: c.start, length: c.length, score }; });
    return Object.assign(best, { matcher: s.matcher });
  }
}
