import type { IngestRecord } from '../../../sdk/contract/ingest.ts';
import type { Memory, MemoryStatus, MemoryType } from '../../../sdk/contract/memory.ts';

/* A model of the service in memory, and the door through which it is compared with a service. */

/** Without `updatedAt`, which also depends on the clock of the worker. */
export type Known = Omit<Memory, 'updatedAt' | 'metadata'> & { metadata: Record<string, string> };
export type Fields = Omit<Known, 'id' | 'type' | 'status' | 'version' | 'createdAt'>;
export type Item = Fields & { type: 'document' | 'event' | 'ticket' };
export type Changes = Partial<Pick<Fields, 'content' | 'metadata' | 'occurredAt' | 'expiresAt'>>;
export type Options = { key?: string | undefined; version?: number | undefined };
export type Query = {
  userId: string;
  order: 'asc' | 'desc';
  limit: number;
  filter: { type?: MemoryType; status?: MemoryStatus; source?: string; externalId?: string };
  metadata: Record<string, string>;
};

/** A way to the service, whose answers have the form of the API. */
export type Door = {
  save(fields: Fields, options: Options): Promise<unknown>;
  update(id: string, changes: Changes, options: Options): Promise<unknown>;
  remove(id: string, options: Options): Promise<unknown>;
  erase(userId: string, options: Options): Promise<unknown>;
  ingest(item: Item, options: Options): Promise<unknown>;
  batch(items: Item[], options: Options): Promise<unknown>;
  import(items: Memory[], options: Options): Promise<unknown>;
  get(id: string): Promise<unknown>;
  statuses(ids: string[]): Promise<unknown[]>;
  /** Returns all pages. */
  list(query: Query): Promise<unknown[][]>;
  export(): Promise<Memory[]>;
  search(userId: string, word: string): Promise<string[]>;
  users(): Promise<unknown[]>;
  stats(): Promise<unknown>;
  /** Resolves when all records have been processed. */
  process(): Promise<void>;
  /** Whether the service processes records by itself. */
  readonly isAutomatic: boolean;
};

/** The time of the requests. */
export const clock = { now: Date.parse('2026-01-01T00:00:00Z') };
export const iso = (ms = clock.now) => new Date(ms).toISOString();

/** A record whose content is the item's content. */
export function recordOf({ type, content, ...fields }: Item): IngestRecord {
  if (type === 'document') return { ...fields, type, data: { text: content } };
  if (type === 'event') return { ...fields, type, data: { name: content } };
  return { ...fields, type, data: { subject: content, comments: [] } };
}

/** The first response to a key. `isCut` says whether its memory has been deleted since. */
export type Stored = {
  request: string;
  answer: unknown;
  memoryId: string | undefined;
  isCut: boolean;
  send(): Promise<unknown>;
};

export class Model {
  readonly memories = new Map<string, Known>();
  readonly responses = new Map<string, Stored>();
  /** All ids that there have ever been, and one that there has not. */
  readonly ids = new Set(['mem_none']);

  put(memory: Known): Known {
    this.ids.add(memory.id);
    this.memories.set(memory.id, memory);
    return memory;
  }

  drop(id: string): void {
    this.memories.delete(id);
    for (const one of this.responses.values()) one.isCut ||= one.memoryId === id;
  }

  of(userId: string): Known[] {
    return [...this.memories.values()].filter((one) => one.userId === userId);
  }

  sameThing({ userId, source, externalId }: Fields): Known | undefined {
    const isSame = (one: Known) => one.source === source && one.externalId === externalId;
    return externalId === null ? undefined : this.of(userId).find(isSame);
  }

  /** Stores a save or a record. If its memory is new, it gets the id. */
  write(fields: Fields, type: MemoryType, id: string): Known {
    const known = this.sameThing(fields);
    const status = type === 'memory' ? 'complete' : 'processing';
    if (known !== undefined) return this.change(known, { ...fields, type }, status);
    return this.put({ ...fields, id, type, status, version: 1, createdAt: iso() });
  }

  /** The metadata of a ticket also contains its subject. */
  accept({ type, ...fields }: Item, id: string): Known {
    const subject = type === 'ticket' ? { subject: fields.content } : {};
    return this.write({ ...fields, metadata: { ...fields.metadata, ...subject } }, type, id);
  }

  change(known: Known, changes: Partial<Known>, status: MemoryStatus): Known {
    const isSame = Bun.deepEquals({ ...known, ...changes }, known);
    if (isSame && known.status === 'complete') return known;
    return this.put({ ...known, ...changes, status, version: known.version + 1 });
  }

  import(items: readonly Known[]) {
    const counts = { imported: 0, skipped: 0, failedCount: 0 };
    for (const one of items) {
      if (this.memories.has(one.id)) counts.skipped += 1;
      else if (this.sameThing(one) !== undefined) counts.failedCount += 1;
      else {
        counts.imported += 1;
        this.put(one);
      }
    }
    return counts;
  }

  complete(): void {
    for (const one of this.memories.values()) {
      if (one.status === 'processing') this.put({ ...one, status: 'complete' });
    }
  }

  moveTo(now: number): void {
    clock.now = now;
    for (const { id, expiresAt } of [...this.memories.values()]) {
      if (expiresAt !== null && expiresAt <= iso()) this.drop(id);
    }
  }

  pages({ userId, order, limit, filter, metadata }: Query): Known[][] {
    const found = this.of(userId).filter((one) => Bun.deepMatch({ ...filter, metadata }, one));
    const sorted = sortBy(found, ({ createdAt, id }) => `${createdAt} ${id}`);
    if (order === 'desc') sorted.reverse();
    const pages = Math.max(1, Math.ceil(sorted.length / limit));
    return Array.from({ length: pages }, (_, n) => sorted.slice(n * limit, (n + 1) * limit));
  }
}

/** Sorts by the bytes of the keys. */
export function sortBy<T>(items: Iterable<T>, by: (item: T) => string): T[] {
  return [...items].sort((a, b) => Buffer.compare(Buffer.from(by(a)), Buffer.from(by(b))));
}
