export type { ApiPromise, ApiResponse } from './api-promise.ts';
export { MemoryClient } from './client.ts';
export type { ErrorCode, FieldError } from './contract/errors.ts';
export type { FilterFields } from './contract/filter.ts';
export type { IdempotencyStatus } from './contract/headers.ts';
export type {
  Accepted,
  BatchAccepted,
  BatchRequest,
  ChatRequest,
  DocumentRequest,
  IngestRecord,
  RecordType,
  SupportRequest,
} from './contract/ingest.ts';
export type {
  GivenMetadata,
  GivenTime,
  Memory,
  MemoryStatus,
  MemoryType,
  SavedMemory,
  SaveRequest,
  UpdateRequest,
} from './contract/memory.ts';
export type { MessagePart, ToolCall } from './contract/message-parts.ts';
export type { OperationName } from './contract/operations.ts';
export type { ListQuery, Order, Page } from './contract/page.ts';
export type { ApiKey, Stats, User, UserOrder, UserPage, UsersQuery } from './contract/project.ts';
export type {
  ConversationData,
  DocumentData,
  EventData,
  ProfileData,
  TicketData,
} from './contract/record-data.ts';
export type {
  FoundMemory,
  Highlight,
  MatchedBy,
  ScoreParts,
  SearchAnswer,
  SearchMode,
  SearchQuery,
} from './contract/search.ts';
export type { Health, IngestStatus, IngestStatuses } from './contract/status.ts';
export type { Task, TaskPage, TaskStatus, TasksQuery } from './contract/tasks.ts';
export type { JsonValue, Metadata } from './contract/text.ts';
export type { Message, TimelineEntry } from './contract/timeline.ts';
export type {
  DeleteAllQuery,
  Deleted,
  ExportQuery,
  Imported,
  ImportRequest,
} from './contract/transfer.ts';
export {
  AbortError,
  AuthenticationError,
  ConnectionError,
  IngestFailedError,
  InvalidRequestError,
  MemoryServiceError,
  NotFoundError,
  PayloadTooLargeError,
  PermissionError,
  PreconditionFailedError,
  RateLimitError,
  ServerError,
  TimeoutError,
  WaitTimeoutError,
} from './errors.ts';
export type { Ingest } from './ingest.ts';
export type {
  AttemptEvent,
  CallOptions,
  ClientOptions,
  ConditionalOptions,
  FetchFunction,
  Replayable,
} from './options.ts';
export type { PagePromise } from './pages.ts';
export type { WaitOptions } from './poll.ts';
