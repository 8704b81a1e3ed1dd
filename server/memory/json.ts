import type { StoredMemory, StoredStatus } from '../storage/storage.ts';
import type { FoundMemory } from './find.ts';

/*
 * Stored values as the JSON of the contract. Written by hand, because metadata is stored as JSON
 * text already and need not be parsed to be sent.
 */

export function memoryJson(memory: StoredMemory): string {
  return `{${memoryFields(memory)}}`;
}

/** The answer to a save: also with the id under the name that every write uses. */
export function savedMemoryJson(memory: StoredMemory): string {
  return `{${memoryFields(memory)},"memoryId":${JSON.stringify(memory.id)}}`;
}

export function pageJson(items: StoredMemory[], nextCursor: string | null): string {
  return `{"items":[${items.map(memoryJson).join(',')}],"nextCursor":${JSON.stringify(nextCursor)}}`;
}

export function foundJson(found: FoundMemory[]): string {
  const items = found.map(({ memory, score, snippet }) => {
    const rounded = Number(score.toPrecision(6));
    return `{${memoryFields(memory)},"score":${rounded},"snippet":${JSON.stringify(snippet)}}`;
  });
  return `{"items":[${items.join(',')}]}`;
}

export function statusJson({ createdAt, updatedAt, ...status }: StoredStatus): string {
  return JSON.stringify({ ...status, createdAt: time(createdAt), updatedAt: time(updatedAt) });
}

function memoryFields(memory: StoredMemory): string {
  const { id, userId, content, metadata, type, source, externalId, status } = memory;
  return (
    `"id":${JSON.stringify(id)},"userId":${JSON.stringify(userId)},` +
    `"content":${JSON.stringify(content)},"metadata":${metadata},` +
    `"type":"${type}","source":${JSON.stringify(source)},` +
    `"externalId":${JSON.stringify(externalId)},"status":"${status}",` +
    `"createdAt":"${time(memory.createdAt)}","updatedAt":"${time(memory.updatedAt)}"`
  );
}

function time(at: number): string {
  return new Date(at).toISOString();
}
