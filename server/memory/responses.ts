import type { Accepted, BatchAccepted } from '../../sdk/contract/ingest.ts';
import type { Imported } from '../../sdk/contract/transfer.ts';
import type {
  Batch,
  ItemFailure,
  NewMemory,
  NewResponse,
  StoredMemory,
  StoredResponse,
  WriteResult,
} from '../storage/types/memories.ts';
import { memoryJson, savedMemoryJson } from './json.ts';

/** The responses to writes, which are rendered inside the transaction that stores them. */

export type ImportOutcome = 'imported' | 'skipped' | 'conflict';

type AcceptedItem = Pick<Accepted, 'memoryId' | 'status'>;

export function savedResponse(memory: NewMemory, at: number): StoredResponse {
  const times = { createdAt: at, updatedAt: at };
  const stored: StoredMemory = { ...memory, status: 'complete', version: 1, ...times };
  return { ...ofMemory(stored), status: 201, body: savedMemoryJson(stored) };
}

export function replacedResponse(memory: StoredMemory): StoredResponse {
  return { ...ofMemory(memory), status: 200, body: savedMemoryJson(memory) };
}

export function updatedResponse(memory: StoredMemory): NewResponse {
  const changedUserId = memory.userId;
  return { ...ofMemory(memory), status: 200, body: memoryJson(memory), changedUserId };
}

export function deletedResponse(changedUserId: string): NewResponse {
  return { ...ofNone, status: 204, body: '', changedUserId };
}

export function erasedResponse(deleted: number): StoredResponse {
  return { ...ofNone, status: 200, body: JSON.stringify({ deleted }) };
}

/**
 * `memoryIds` are the ids of the records' memories, and `queued` are the ids of those that the
 * records changed. `batch` is null for a single record.
 */
export function acceptedResponse(
  records: readonly NewMemory[],
  memoryIds: readonly string[],
  queued: ReadonlySet<string>,
  batch: Batch | null,
): StoredResponse {
  const items = memoryIds.map((memoryId): AcceptedItem => {
    return { memoryId, status: queued.has(memoryId) ? 'processing' : 'complete' };
  });
  const [[record], [item]] = [records, items];
  if (batch === null && record !== undefined && item !== undefined) {
    return singleResponse(record, item);
  }
  return batchResponse(items, batch ?? { indexes: [], failed: [] });
}

/** The response names its memory, because it holds the source and the external id. */
function singleResponse({ source, externalId }: NewMemory, item: AcceptedItem): StoredResponse {
  const accepted: Accepted = { ...item, source, externalId };
  const { memoryId } = item;
  return { memoryId, version: null, status: 202, body: JSON.stringify(accepted) };
}

function batchResponse(items: readonly AcceptedItem[], { indexes, failed }: Batch): StoredResponse {
  const accepted: BatchAccepted = {
    accepted: items.length,
    failedCount: failed.length,
    items: items.map((item, position) => ({ index: indexes[position] ?? position, ...item })),
    failed,
  };
  return { ...ofNone, status: 202, body: JSON.stringify(accepted) };
}

export function importedResponse(outcomes: readonly ImportOutcome[], batch: Batch): StoredResponse {
  const conflicts = outcomes.flatMap((outcome, position): ItemFailure[] => {
    if (outcome !== 'conflict') return [];
    const message =
      'externalId: another memory of this user already has this source and externalId';
    return [{ index: batch.indexes[position] ?? position, error: 'invalid_request', message }];
  });
  const failed = [...batch.failed, ...conflicts].sort((a, b) => a.index - b.index);
  const report: Imported = {
    imported: outcomes.filter((outcome) => outcome === 'imported').length,
    skipped: outcomes.filter((outcome) => outcome === 'skipped').length,
    failedCount: failed.length,
    failed,
  };
  return { ...ofNone, status: 200, body: JSON.stringify(report) };
}

/** Returns the body that replaces a stored response when its memory is deleted. */
export function deletedBody(memoryId: string): string {
  return JSON.stringify({ id: memoryId, memoryId, deleted: true });
}

export function newResult({ changedUserId, ...response }: NewResponse): WriteResult {
  return { response, replayed: false, ...(changedUserId !== undefined && { changedUserId }) };
}

const ofNone = { memoryId: null, version: null };

function ofMemory({ id, version }: StoredMemory) {
  return { memoryId: id, version };
}
