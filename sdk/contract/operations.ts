/**
 * Every operation of the API, by the name of its SDK method: `ingest.support` is the method
 * `client.ingest.support`.
 */
export const operations = {
  save: { method: 'POST', path: '/v1/memories', success: 201, replaced: 200 },
  list: { method: 'GET', path: '/v1/memories', success: 200 },
  get: { method: 'GET', path: '/v1/memories/:id', success: 200 },
  update: { method: 'PATCH', path: '/v1/memories/:id', success: 200 },
  delete: { method: 'DELETE', path: '/v1/memories/:id', success: 204 },
  deleteAll: { method: 'DELETE', path: '/v1/memories', success: 200 },
  search: { method: 'GET', path: '/v1/memories/search', success: 200 },
  status: { method: 'GET', path: '/v1/memories/:id/status', success: 200 },
  statusMany: { method: 'POST', path: '/v1/memories/status', success: 200, reads: true },
  'ingest.support': { method: 'POST', path: '/v1/ingest/support', success: 202 },
  'ingest.document': { method: 'POST', path: '/v1/ingest/document', success: 202 },
  'ingest.chat': { method: 'POST', path: '/v1/ingest/chat', success: 202 },
  'ingest.record': { method: 'POST', path: '/v1/ingest', success: 202 },
  'ingest.batch': { method: 'POST', path: '/v1/ingest/batch', success: 202 },
  export: { method: 'GET', path: '/v1/export', success: 200 },
  import: { method: 'POST', path: '/v1/import', success: 200 },
  users: { method: 'GET', path: '/v1/users', success: 200 },
  tasks: { method: 'GET', path: '/v1/tasks', success: 200 },
  stats: { method: 'GET', path: '/v1/stats', success: 200 },
  key: { method: 'GET', path: '/v1/key', success: 200 },
  health: { method: 'GET', path: '/health', success: 200 },
} as const satisfies Record<string, Operation>;

export type Operation = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** A path parameter is written `:name`. */
  path: string;
  success: 200 | 201 | 202 | 204;
  /** The status if the operation replaced an existing memory. */
  replaced?: 200;
  /** Whether the operation only reads, although its method is not GET. */
  reads?: true;
};

export type OperationName = keyof typeof operations;
