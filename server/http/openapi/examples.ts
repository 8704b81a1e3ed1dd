import type { ErrorBody, ErrorCode } from '../../../sdk/contract/errors.ts';
import type {
  DeletedSince,
  Memory,
  SavedMemory,
  SaveRequest,
  UpdateRequest,
} from '../../../sdk/contract/memory.ts';
import type { Page } from '../../../sdk/contract/page.ts';
import type { SearchAnswer } from '../../../sdk/contract/search.ts';
import type { Health, IngestStatus } from '../../../sdk/contract/status.ts';
import type { Deleted, Imported, ImportRequest } from '../../../sdk/contract/transfer.ts';

/* One small story: what a shop remembers of its customer u-1. The tests send its requests. */

export const memoryId = 'mem_0199c2a4f1e87c3d9b5e6a7f80912b3c';
const requestId = 'req_5f0c3a9e7d2b4c1f8e6a0b9d8c7f6e5d';
const at = '2026-11-20T10:00:00.000Z';
const later = '2026-11-20T10:00:02.000Z';

export const saveRequest: SaveRequest = {
  userId: 'u-1',
  content: 'Prefers dark mode',
  metadata: { source: 'chat' },
};

export const memory: Memory = {
  id: memoryId,
  userId: 'u-1',
  content: 'Prefers dark mode',
  metadata: { source: 'chat' },
  type: 'memory',
  source: null,
  externalId: null,
  status: 'complete',
  version: 1,
  occurredAt: null,
  expiresAt: null,
  createdAt: at,
  updatedAt: at,
};

export const savedMemory: SavedMemory = { ...memory, memoryId };

export const deletedSince: DeletedSince = { id: memoryId, memoryId, deleted: true };

export const page: Page = {
  items: [memory],
  nextCursor: 'WzE3OTUxNjg4MDAwMDAsIm1lbV8wMTk5IiwiMXoxNDF6MyJd',
};

export const filters = { type: 'memory', metadata: { source: 'chat' } };

export const lastPage: Page = { items: [memory], nextCursor: null };

export const searchAnswer: SearchAnswer = {
  items: [{ ...memory, score: 4.21, snippet: 'Prefers «dark» «mode»' }],
};

export const deleted: Deleted = { deleted: 42 };

export const importRequest: ImportRequest = { items: [memory] };

export const imported: Imported = {
  imported: 1,
  skipped: 0,
  failedCount: 1,
  failed: [{ index: 1, error: 'invalid_request', message: 'content: must not be empty' }],
};

export const updateRequest: UpdateRequest = { content: 'Prefers dark mode, but not at noon' };

export const updatedMemory: Memory = { ...memory, ...updateRequest, updatedAt: later };

export const ingestStatus: IngestStatus = {
  memoryId,
  status: 'complete',
  chunksComplete: 2,
  chunksTotal: 2,
  attempts: 1,
  errorMessage: null,
  createdAt: at,
  updatedAt: later,
};

export const health: Health = {
  status: 'ok',
  version: '0.1.0',
  storage: 'sqlite',
  pending: 0,
  oldestPendingSeconds: null,
};

export const failingHealth: Health = {
  ...health,
  status: 'failing',
  message: 'the database does not answer',
};

const emptyContent = { field: 'data.comments.2.content', message: 'must not be empty' };

const errorMessages: Record<ErrorCode, string> = {
  invalid_request: `${emptyContent.field}: ${emptyContent.message}`,
  idempotency_key_reused:
    'this Idempotency-Key was used before with another request; use a new key for a new request',
  unauthorized: 'a valid API key is needed: send the header "Authorization: Bearer <API_KEY>"',
  forbidden: 'this API key is read-only',
  not_found: 'no memory has this id',
  method_not_allowed: 'this route allows GET, POST',
  precondition_failed: 'the memory is at version 3, not 2; read it again and repeat the change',
  payload_too_large: 'the body must be at most 5242880 bytes',
  unsupported_media_type: 'send the body as JSON, with "Content-Type: application/json"',
  rate_limited: 'more than 6000 requests in 60 seconds; try again in 12 s',
  internal:
    'the service met a fault and the outcome is unknown; retry with the same Idempotency-Key',
  unavailable: 'the service is shutting down; try again shortly',
};

export function errorExample(code: ErrorCode): ErrorBody {
  const details = code === 'invalid_request' ? { details: [emptyContent] } : {};
  return { error: code, message: errorMessages[code], ...details, requestId };
}
