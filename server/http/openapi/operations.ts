import { type TObject, type TSchema, Type } from '@sinclair/typebox';
import * as ingest from '../../../sdk/contract/ingest.ts';
import * as memory from '../../../sdk/contract/memory.ts';
import type { Operation } from '../../../sdk/contract/operations.ts';
import { ListQuery, Page } from '../../../sdk/contract/page.ts';
import { ApiKey, Stats, UserPage, UsersQuery } from '../../../sdk/contract/project.ts';
import { SearchAnswer, SearchQuery } from '../../../sdk/contract/search.ts';
import {
  Health,
  IngestStatus,
  IngestStatuses,
  Liveness,
  StatusesRequest,
} from '../../../sdk/contract/status.ts';
import { TaskPage, TasksQuery } from '../../../sdk/contract/tasks.ts';
import * as transfer from '../../../sdk/contract/transfer.ts';
import type { RouteName } from '../routes.ts';

export const tags = {
  Memories: "Save, find, change and delete a user's memories.",
  Ingest: 'Ingest tickets, documents, conversations, events and profiles from other systems.',
  Project: 'Count what the project holds, list its users and its queue, and describe the API key.',
  Transfer: 'Move memories between projects or services, unchanged.',
  Service: 'Check the service, and get this document. No key is required.',
};

export type OperationDocument = {
  /** The operationId, which generated clients use as the method name. */
  id: string;
  tag: keyof typeof tags;
  summary: string;
  description: string;
  query?: TObject;
  request?: TSchema;
  /** Undefined if the response has no body. */
  response?: TSchema;
  /** Whether a 201 or 202 response has the header `Location`. */
  location?: true;
  /** Whether the response is a memory, with its version as `ETag`. */
  etag?: true;
};

export type DocumentedOperation = Operation & OperationDocument;

const unchanged = 'If nothing would change, a `complete` memory keeps its version and times.';
const replaces =
  'Ingesting the same `source` and `externalId` again for the same user replaces the memory, ' +
  `which keeps its id. ${unchanged}`;
const accepted = { tag: 'Ingest', response: ingest.Accepted, location: true } as const;

export const operationDocuments: Record<RouteName, OperationDocument> = {
  save: {
    id: 'saveMemory',
    tag: 'Memories',
    summary: 'Save a memory',
    description:
      "Stores text for a user. The memory is `complete` immediately. If one of the user's memories " +
      'already has this `source` and `externalId`, its content, metadata, `occurredAt` and ' +
      `\`expiresAt\` are replaced, and the response is a 200. ${unchanged}`,
    request: memory.SaveRequest,
    response: memory.SavedMemory,
    location: true,
    etag: true,
  },
  list: {
    id: 'listMemories',
    tag: 'Memories',
    summary: "List a user's memories",
    description:
      'Returns the newest memories first by default. Pass `nextCursor` as `cursor` until it is ' +
      'null: every memory that existed at the start is returned exactly once. Filters are ' +
      'combined with AND.',
    query: ListQuery,
    response: Page,
  },
  search: {
    id: 'searchMemories',
    tag: 'Memories',
    summary: "Search a user's memories",
    description:
      'Returns the best match first; a memory is ranked by its best chunk. The query is plain ' +
      'text without operators. A memory can be found once it is `complete`. If the service has a ' +
      'model, memories are found by words and by meaning. With `mode=meaning`, a service without ' +
      'a model returns 400, and 503 if its model fails.',
    query: SearchQuery,
    response: SearchAnswer,
  },
  get: {
    id: 'getMemory',
    tag: 'Memories',
    summary: 'Get a memory',
    description: 'Returns one memory by its id, or 304 if `If-None-Match` matches its version.',
    response: memory.Memory,
    etag: true,
  },
  update: {
    id: 'updateMemory',
    tag: 'Memories',
    summary: 'Update a memory',
    description:
      'Replaces each field that is present; the others are unchanged. With `If-Match`, the update ' +
      'is rejected unless the memory is still at that version. A memory with the status ' +
      `\`processing\` or \`failed\` becomes \`complete\`, and its pending work is canceled. ${unchanged}`,
    request: memory.UpdateRequest,
    response: memory.Memory,
    etag: true,
  },
  delete: {
    id: 'deleteMemory',
    tag: 'Memories',
    summary: 'Delete a memory',
    description:
      'When this returns, the memory is gone from lists, search and the queue. With `If-Match`, ' +
      'the delete is rejected unless the memory is still at that version.',
  },
  deleteAll: {
    id: 'deleteMemories',
    tag: 'Memories',
    summary: 'Delete all memories of a user',
    description:
      'Implements the right to erasure. When this returns, all memories of the user are gone from ' +
      'lists, search and the queue, and their text is gone from stored responses.',
    query: transfer.DeleteAllQuery,
    response: transfer.Deleted,
  },
  status: {
    id: 'getMemoryStatus',
    tag: 'Memories',
    summary: 'Get the processing status of a memory',
    description: 'The status is accurate as soon as the ingest call has returned.',
    response: IngestStatus,
  },
  statusMany: {
    id: 'getMemoryStatuses',
    tag: 'Memories',
    summary: 'Get the statuses of up to 1,000 memories',
    description:
      'Returns the statuses in the requested order, and lists unknown ids in `notFound`. ' +
      'The request changes nothing.',
    request: StatusesRequest,
    response: IngestStatuses,
  },
  'ingest.support': {
    ...accepted,
    id: 'ingestTicket',
    summary: 'Ingest a support ticket',
    description: `The content consists of the subject, the description and the comments. ${replaces}`,
    request: ingest.SupportRequest,
  },
  'ingest.document': {
    ...accepted,
    id: 'ingestDocument',
    summary: 'Ingest a document',
    description: `The text becomes the content, unchanged. ${replaces}`,
    request: ingest.DocumentRequest,
  },
  'ingest.chat': {
    ...accepted,
    id: 'ingestConversation',
    summary: 'Ingest a conversation',
    description:
      'The content consists of the title, the summary and the messages. `messages` can also be ' +
      `a top-level field, as in model APIs. ${replaces}`,
    request: ingest.ChatRequest,
  },
  'ingest.record': {
    ...accepted,
    id: 'ingestRecord',
    summary: 'Ingest a record of any type',
    description: `The fields of \`data\` depend on \`type\`. ${replaces}`,
    request: ingest.IngestRecord,
  },
  'ingest.batch': {
    id: 'ingestBatch',
    tag: 'Ingest',
    summary: 'Ingest up to 1,000 records at once',
    description:
      'Each item is accepted or rejected on its own: check `failedCount`. The valid items and the ' +
      'response are committed together, under one Idempotency-Key. If `items` does not have 1 to ' +
      '1,000 entries, the response is a 400 and nothing changes.',
    request: ingest.BatchRequest,
    response: ingest.BatchAccepted,
  },
  export: {
    id: 'exportMemories',
    tag: 'Transfer',
    summary: 'Export the memories of a project or of one user',
    description:
      'Pass `nextCursor` as `cursor` until it is null; a page of large memories can have fewer ' +
      'than `limit` items. The items can be imported as is.',
    query: transfer.ExportQuery,
    response: Page,
  },
  import: {
    id: 'importMemories',
    tag: 'Transfer',
    summary: 'Import up to 1,000 memories at once',
    description:
      'Accepts memories in the format that list and export return: ids, times, types and ' +
      'statuses are kept, and memories that were `processing` are processed. A memory whose id ' +
      'already exists is skipped. A key that is bound to a user keeps only ids that the user ' +
      'already has; other ids are replaced. Each item is accepted or rejected on its own: check ' +
      '`failedCount`. The valid items and the response are committed together.',
    request: transfer.ImportRequest,
    response: transfer.Imported,
  },
  users: {
    id: 'listUsers',
    tag: 'Project',
    summary: "List the project's users",
    description:
      'Returns the users who have memories, ordered by id. Pass `nextCursor` as `cursor` until ' +
      'it is null. With `order=memories` or `order=bytes`, returns the largest users first, without ' +
      'a cursor. A key that is bound to a user lists only that user.',
    query: UsersQuery,
    response: UserPage,
  },
  tasks: {
    id: 'listTasks',
    tag: 'Project',
    summary: 'List the memories that are being processed or have failed',
    description:
      'Returns the newest memories first, with their attempts and their last error. Pass ' +
      '`nextCursor` as `cursor` until it is null: every memory that has this status during the ' +
      'whole walk is returned exactly once. To process a failed memory again, ingest it again. A ' +
      'key that is bound to a user lists only memories of that user.',
    query: TasksQuery,
    response: TaskPage,
  },
  stats: {
    id: 'getStats',
    tag: 'Project',
    summary: 'Count what the project holds',
    description:
      'Returns the number of users and memories, by type and by status, and their size. If there ' +
      'are 1,000 memories or more, the figures may be a minute old. For a key that is bound to a ' +
      'user, returns the figures of that user.',
    response: Stats,
  },
  key: {
    id: 'getApiKey',
    tag: 'Project',
    summary: 'Describe the API key',
    description: 'The project, name and permissions of the key that authenticates the request.',
    response: ApiKey,
  },
  home: {
    id: 'getService',
    tag: 'Service',
    summary: 'Describe the service',
    description:
      'Names the version and the documentation. A browser, which accepts `text/html`, gets a page ' +
      'with the state of the service and samples.',
    response: Type.Object(
      {
        name: Type.String(),
        version: Type.String(),
        docs: Type.String({ description: 'The address of the documentation.' }),
        openapi: Type.String({ description: 'The path of this document.' }),
      },
      {
        description: 'The service and its documentation.',
        examples: [
          {
            name: 'memory-service',
            version: '0.1.0',
            docs: 'https://github.com/memory-service/memory-service#readme',
            openapi: '/openapi.json',
          },
        ],
      },
    ),
  },
  health: {
    id: 'getHealth',
    tag: 'Service',
    summary: "Get the service's health",
    description: 'Readiness, for load balancers and operators: 503 while the service is failing.',
    response: Health,
  },
  live: {
    id: 'getLiveness',
    tag: 'Service',
    summary: 'Check that the process responds',
    description: 'Liveness, for supervisors: 200 if the process responds.',
    response: Liveness,
  },
  openapi: {
    id: 'getOpenApiDocument',
    tag: 'Service',
    summary: 'Get this document',
    description: 'Returns the OpenAPI 3.1 document of the service.',
    response: Type.Object({}, { description: 'An OpenAPI 3.1 document.' }),
  },
};
