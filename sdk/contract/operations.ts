/**
 * Every operation of the API, by the name of its SDK method: `ingest.support` is the method
 * `client.ingest.support`.
 */
export const operations = {
  save: { method: 'POST', path: '/v1/memories', field: 'id' },
  list: { method: 'GET', path: '/v1/memories', field: 'nextCursor' },
  get: { method: 'GET', path: '/v1/memories/:id', field: 'id' },
  update: { method: 'PATCH', path: '/v1/memories/:id', field: 'id' },
  delete: { method: 'DELETE', path: '/v1/memories/:id' },
  deleteAll: { method: 'DELETE', path: '/v1/memories', field: 'deleted' },
  search: { method: 'GET', path: '/v1/memories/search', field: 'items' },
  status: { method: 'GET', path: '/v1/memories/:id/status', field: 'memoryId' },
  statusMany: { method: 'POST', path: '/v1/memories/status', field: 'items' },
  'ingest.support': { method: 'POST', path: '/v1/ingest/support', field: 'memoryId' },
  'ingest.document': { method: 'POST', path: '/v1/ingest/document', field: 'memoryId' },
  'ingest.chat': { method: 'POST', path: '/v1/ingest/chat', field: 'memoryId' },
  'ingest.record': { method: 'POST', path: '/v1/ingest', field: 'memoryId' },
  'ingest.batch': { method: 'POST', path: '/v1/ingest/batch', field: 'items' },
  export: { method: 'GET', path: '/v1/export', field: 'nextCursor' },
  import: { method: 'POST', path: '/v1/import', field: 'failed' },
  users: { method: 'GET', path: '/v1/users', field: 'nextCursor' },
  tasks: { method: 'GET', path: '/v1/tasks', field: 'nextCursor' },
  stats: { method: 'GET', path: '/v1/stats', field: 'memories' },
  key: { method: 'GET', path: '/v1/key', field: 'userId' },
  health: { method: 'GET', path: '/health', field: 'status' },
} as const satisfies Record<string, Operation>;

export type Operation = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** A path parameter is written `:name`. */
  path: string;
  /** A field of every successful response. Without it, the response is not from the service. */
  field?: string;
};

export type OperationName = keyof typeof operations;
