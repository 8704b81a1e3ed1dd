import type { Memory } from '../../sdk/contract/memory.ts';
import type { User } from '../../sdk/contract/project.ts';
import type { FoundMemory, ScoreParts } from '../../sdk/contract/search.ts';
import type {
  ItemsJson,
  StoredMemory,
  StoredStatus,
  StoredTask,
} from '../storage/types/memories.ts';
import type { UserRow } from '../storage/types/project.ts';

export type Found = Omit<FoundMemory, keyof Memory> & { memory: StoredMemory };

export function memoryJson(memory: StoredMemory): string {
  const { contentLength } = memory;
  return JSON.stringify({ ...shownMemory(memory), contentLength });
}

/** Formats the response to a save. It repeats the id as `memoryId`, as in ingest responses. */
export function savedMemoryJson(memory: StoredMemory): string {
  return JSON.stringify({ ...shownMemory(memory), memoryId: memory.id });
}

export function memoriesJson(items: readonly StoredMemory[]): ItemsJson {
  return arrayJson(items.map(shownMemory));
}

export function usersJson(users: readonly UserRow[]): ItemsJson {
  const shown = users.map(({ lastCreatedAt, ...user }): User => {
    return { ...user, lastCreatedAt: time(lastCreatedAt) };
  });
  return [JSON.stringify(shown)];
}

export function tasksJson(tasks: readonly StoredTask[]): ItemsJson {
  return arrayJson(
    tasks.map((task) => {
      const { attempts, errorMessage } = task;
      return { ...shownMemory(task), attempts, errorMessage };
    }),
  );
}

export function foundJson(found: readonly Found[]): ItemsJson {
  const items = found.map(({ memory, score, parts, ...rest }) => {
    const shown = { ...shownMemory(memory), score: rounded(score), ...rest };
    return parts === undefined ? shown : { ...shown, parts: roundedParts(parts) };
  });
  return arrayJson(items);
}

function rounded(score: number): number {
  return Number(score.toPrecision(6));
}

function roundedParts({ words, phrase, date, meaning }: ScoreParts): ScoreParts {
  return {
    words: rounded(words),
    phrase: rounded(phrase),
    date: rounded(date),
    meaning: rounded(meaning),
  };
}

/** Content longer than this, in UTF-16 units, becomes a separate piece. */
const largeUnits = 64 * 1024;

/**
 * Large content is never copied into a longer string. In such a string, one character outside
 * Latin-1, such as the ellipsis in a snippet, would double the size of all other text.
 */
function arrayJson(items: readonly Memory[]): ItemsJson {
  // One call to JSON.stringify is several times as fast as joining many small strings.
  if (items.every(({ content }) => content.length <= largeUnits)) return [JSON.stringify(items)];
  return [...items.flatMap((item, index) => [index === 0 ? '[' : ',', ...piecesOf(item)]), ']'];
}

function piecesOf({ id, userId, content, ...rest }: Memory): string[] {
  const begin = JSON.stringify({ id, userId }).slice(0, -1);
  const end = JSON.stringify(rest).slice(1);
  return [`${begin},"content":`, JSON.stringify(content), `,${end}`];
}

export function shownStatus({ createdAt, updatedAt, ...status }: StoredStatus) {
  return { ...status, createdAt: time(createdAt), updatedAt: time(updatedAt) };
}

function shownMemory(memory: StoredMemory): Memory {
  const { id, userId, content, metadata, type, source, externalId, status, version } = memory;
  const createdAt = time(memory.createdAt);
  // Formatting a time is slow, and most memories have never been changed.
  const isUnchanged = memory.updatedAt === memory.createdAt;
  return {
    id,
    userId,
    content,
    metadata: metadata === '{}' ? {} : JSON.parse(metadata),
    type,
    source,
    externalId,
    status,
    version,
    occurredAt: timeOrNull(memory.occurredAt),
    expiresAt: timeOrNull(memory.expiresAt),
    createdAt,
    updatedAt: isUnchanged ? createdAt : time(memory.updatedAt),
  };
}

export function timeOrNull(at: number | null): string | null {
  return at === null ? null : time(at);
}

function time(at: number): string {
  return new Date(at).toISOString();
}
