import { type TSchema, Type } from '@sinclair/typebox';
import * as ingest from '../../../sdk/contract/ingest.ts';
import * as memory from '../../../sdk/contract/memory.ts';
import type { OperationName } from '../../../sdk/contract/operations.ts';
import { Page } from '../../../sdk/contract/page.ts';
import { ApiKey, Stats, UserPage } from '../../../sdk/contract/project.ts';
import { SearchAnswer } from '../../../sdk/contract/search.ts';
import { Health, IngestStatus, IngestStatuses, Liveness } from '../../../sdk/contract/status.ts';
import { TaskPage } from '../../../sdk/contract/tasks.ts';
import * as transfer from '../../../sdk/contract/transfer.ts';

export const tags = {
  Memories: "Save, find, change and delete a user's memories.",
  Ingest: 'Ingest tickets, documents, conversations, events and profiles from other systems.',
  Project: 'Count what the project holds, list its users and its queue, and describe the API key.',
  Transfer: 'Move memories between projects or services, unchanged.',
  Service: 'Check the service, and get this document. No key is required.',
};

/** What the OpenAPI document says about a route, besides its path, query, body and errors. */
export type RouteDetail = {
  /** Generated clients use it as the method name. */
  operationId: string;
  tags: (keyof typeof tags)[];
  summary: string;
  description: string;
  /** The status of a success; the default is 200. */
  success?: 201 | 202 | 204;
  /** The status if the operation replaced an existing memory. */
  replaced?: 200;
  /** Whether the operation only reads, although its method is not GET. */
  reads?: true;
  /** Undefined if the response has no body. */
  response?: TSchema;
  /** Whether a 201 or 202 response has the header `Location`. */
  location?: true;
  /** Whether the response is a memory, with its version as `ETag`. */
  etag?: true;
};

const unchanged = 'If nothing would change, a `complete` memory keeps its version and times.';
const replaces =
  'Ingesting the same `source` and `externalId` again for the same user replaces the memory, ' +
  `which keeps its id. ${unchanged}`;
const accepted: Pick<RouteDetail, 'tags' | 'success' | 'response' | 'location'> = {
  tags: ['Ingest'],
  success: 202,
  response: ingest.Accepted,
  location: true,
};

/** The documented routes that are not operations of the contract. */
export const otherRoutes = {
  home: { method: 'GET', path: '/' },
  live: { method: 'GET', path: '/health/live' },
  openapi: { method: 'GET', path: '/openapi.json' },
};

export const details: Record<OperationName | keyof typeof otherRoutes, RouteDetail> = {
  save: {
    operationId: 'saveMemory',
    tags: ['Memories'],
    summary: 'Save a memory',
    description:
      "Stores text for a user. The memory is `complete` immediately. If one of the user's memories " +
      'already has this `source` and `externalId`, its content, metadata, `occurredAt` and ' +
      '`expiresAt` are replaced, and the response is a 200. With `If-Match`, the save is rejected ' +
      `unless there is such a memory, at that version. ${unchanged}`,
    success: 201,
    replaced: 200,
    response: memory.SavedMemory,
    location: true,
    etag: true,
  },
  list: {
    operationId: 'listMemories',
    tags: ['Memories'],
    summary: "List a user's memories",
    description:
      'Returns the newest memories first by default. Pass `nextCursor` as `cursor` until it is ' +
      'null: every memory that existed at the start is returned exactly once. Filters are ' +
      'combined with AND.',
    response: Page,
  },
  search: {
    operationId: 'searchMemories',
    tags: ['Memories'],
    summary: "Search a user's memories",
    description:
      'Returns the best match first; a memory is ranked by its best chunk. The query is plain ' +
      'text without operators. A memory can be found once it is `complete`. If the service has a ' +
      'model, memories are found by words and by meaning. With `mode=meaning`, a service without ' +
      'a model returns 400, and 503 if its model fails.',
    response: SearchAnswer,
  },
  get: {
    operationId: 'getMemory',
    tags: ['Memories'],
    summary: 'Get a memory',
    description: 'Returns one memory by its id, or 304 if `If-None-Match` matches its version.',
    response: memory.Memory,
    etag: true,
  },
  update: {
    operationId: 'updateMemory',
    tags: ['Memories'],
    summary: 'Update a memory',
    description:
      'Replaces each field that is present; the others are unchanged. With `If-Match`, the update ' +
      'is rejected unless the memory is still at that version. A memory with the status ' +
      `\`processing\` or \`failed\` becomes \`complete\`, and its pending work is canceled. ${unchanged}`,
    response: memory.Memory,
    etag: true,
  },
  delete: {
    operationId: 'deleteMemory',
    tags: ['Memories'],
    summary: 'Delete a memory',
    description:
      'When this returns, the memory is gone from lists, search and the queue. With `If-Match`, ' +
      'the delete is rejected unless the memory is still at that version.',
    success: 204,
  },
  deleteAll: {
    operationId: 'deleteMemories',
    tags: ['Memories'],
    summary: 'Delete all memories of a user',
    description:
      'Implements the right to erasure. When this returns, all memories of the user are gone from ' +
      'lists, search and the queue, and their text is gone from stored responses.',
    response: transfer.Deleted,
  },
  status: {
    operationId: 'getMemoryStatus',
    tags: ['Memories'],
    summary: 'Get the processing status of a memory',
    description: 'The status is accurate as soon as the ingest call has returned.',
    response: IngestStatus,
  },
  statusMany: {
    operationId: 'getMemoryStatuses',
    tags: ['Memories'],
    summary: 'Get the statuses of up to 1,000 memories',
    description:
      'Returns the statuses in the requested order, and lists unknown ids in `notFound`. ' +
      'The request changes nothing.',
    reads: true,
    response: IngestStatuses,
  },
  'ingest.support': {
    ...accepted,
    operationId: 'ingestTicket',
    summary: 'Ingest a support ticket',
    description: `The content consists of the subject, the description and the comments. ${replaces}`,
  },
  'ingest.document': {
    ...accepted,
    operationId: 'ingestDocument',
    summary: 'Ingest a document',
    description: `The text becomes the content, unchanged. ${replaces}`,
  },
  'ingest.chat': {
    ...accepted,
    operationId: 'ingestConversation',
    summary: 'Ingest a conversation',
    description:
      'The content consists of the title, the summary and the messages. `messages` can also be ' +
      `a top-level field, as in model APIs. ${replaces}`,
  },
  'ingest.record': {
    ...accepted,
    operationId: 'ingestRecord',
    summary: 'Ingest a record of any type',
    description: `The fields of \`data\` depend on \`type\`. ${replaces}`,
  },
  'ingest.batch': {
    operationId: 'ingestBatch',
    tags: ['Ingest'],
    summary: 'Ingest up to 1,000 records at once',
    description:
      'Each item is accepted or rejected on its own: check `failedCount`. The valid items and the ' +
      'response are committed together, under one Idempotency-Key. If `items` does not have 1 to ' +
      '1,000 entries, the response is a 400 and nothing changes.',
    success: 202,
    response: ingest.BatchAccepted,
  },
  export: {
    operationId: 'exportMemories',
    tags: ['Transfer'],
    summary: 'Export the memories of a project or of one user',
    description:
      'Pass `nextCursor` as `cursor` until it is null; a page of large memories can have fewer ' +
      'than `limit` items. The items can be imported as is.',
    response: Page,
  },
  import: {
    operationId: 'importMemories',
    tags: ['Transfer'],
    summary: 'Import up to 1,000 memories at once',
    description:
      'Accepts memories in the format that list and export return: ids, times, types and ' +
      'statuses are kept, and memories that were `processing` are processed. A memory whose id ' +
      'already exists is skipped. A key that is bound to a user keeps only ids that the user ' +
      'already has; other ids are replaced. Each item is accepted or rejected on its own: check ' +
      '`failedCount`. The valid items and the response are committed together.',
    response: transfer.Imported,
  },
  users: {
    operationId: 'listUsers',
    tags: ['Project'],
    summary: "List the project's users",
    description:
      'Returns the users who have memories, ordered by id. Pass `nextCursor` as `cursor` until ' +
      'it is null. With `order=memories` or `order=bytes`, returns the largest users first, without ' +
      'a cursor. A key that is bound to a user lists only that user.',
    response: UserPage,
  },
  tasks: {
    operationId: 'listTasks',
    tags: ['Project'],
    summary: 'List the memories that are being processed or have failed',
    description:
      'Returns the newest memories first, with their attempts and their last error. Pass ' +
      '`nextCursor` as `cursor` until it is null: every memory that has this status during the ' +
      'whole walk is returned exactly once. To process a failed memory again, ingest it again. A ' +
      'key that is bound to a user lists only memories of that user.',
    response: TaskPage,
  },
  stats: {
    operationId: 'getStats',
    tags: ['Project'],
    summary: 'Count what the project holds',
    description:
      'Returns the number of users and memories, by type and by status, and their size. If there ' +
      'are 1,000 memories or more, the figures may be a minute old. For a key that is bound to a ' +
      'user, returns the figures of that user.',
    response: Stats,
  },
  key: {
    operationId: 'getApiKey',
    tags: ['Project'],
    summary: 'Describe the API key',
    description: 'The project, name and permissions of the key that authenticates the request.',
    response: ApiKey,
  },
  home: {
    operationId: 'getService',
    tags: ['Service'],
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
    operationId: 'getHealth',
    tags: ['Service'],
    summary: "Get the service's health",
    description: 'Readiness, for load balancers and operators: 503 while the service is failing.',
    response: Health,
  },
  live: {
    operationId: 'getLiveness',
    tags: ['Service'],
    summary: 'Check that the process responds',
    description: 'Liveness, for supervisors: 200 if the process responds.',
    response: Liveness,
  },
  openapi: {
    operationId: 'getOpenApiDocument',
    tags: ['Service'],
    summary: 'Get this document',
    description: 'Returns the OpenAPI 3.1 document of the service.',
    response: Type.Object({}, { description: 'An OpenAPI 3.1 document.' }),
  },
};
