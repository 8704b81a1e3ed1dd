import type { Handler } from '../../../server/tasks/handlers.ts';
import { blockHttpThread } from './blocked-thread.ts';
import { commitLate } from './early.ts';
import { hideMoves } from './frozen.ts';
import { overtaken, poisoned, slowed } from './handlers.ts';
import { ignoreThreads } from './ignored-threads.ts';
import type { Patch, Swap } from './patch.ts';
import { slowParse } from './slow-parse.ts';
import {
  findsNothing,
  maskErrors,
  soundStructure,
  swallowErrors,
  withoutSync,
} from './sql-faults.ts';
import type { Hook, Rewrite } from './statements.ts';

/**
 * A change to the service for a harness. Most variants remove one protection. Those marked "No
 * protection removed" only make certain conditions occur.
 */
export type Variant = {
  /** Runs in each thread before it loads the service. */
  prepare?(): void;
  hooks?: Hook[];
  /** Replacements in SQL text. */
  sql?: Rewrite[];
  swaps?: Swap[];
  patches?: Patch[];
  env?: Record<string, string>;
  handler?(inner: Handler): Handler;
};

/** Wraps the service's index handler in the variant's handler. */
const ownHandler: Patch = [
  'server/tasks/handlers.ts',
  '{ index: indexMemory }',
  '{ index: globalThis.faultHandler(indexMemory) }',
];

export const variants: Record<string, Variant> = {
  /** No protection removed: some records make the worker throw, and some end the process. */
  poison: { handler: poisoned, patches: [ownHandler] },
  'answer-early': { hooks: commitLate },
  'commit-error-swallowed': { hooks: swallowErrors(/^COMMIT\b/i) },
  /** COMMIT acknowledges data that is only in the operating system's cache. */
  'no-sync': {
    hooks: withoutSync,
  },
  'no-replay': {
    hooks: findsNothing(/^SELECT k\.fingerprint\b.* FROM idempotency_keys\b/is),
    sql: [[/CREATE UNIQUE INDEX idempotency_keys_by_key/i, 'CREATE INDEX idempotency_keys_by_key']],
  },
  'constant-fingerprint': {
    patches: [['server/http/idempotency.ts', 'fingerprint: hash.digest()', "fingerprint: 'any'"]],
  },
  'no-lease-check': {
    patches: [
      ['server/storage/sqlite/writer/tasks.ts', "state = 'running' AND lease_token =", '0 <'],
    ],
  },
  /** A task is complete as soon as a worker claims it. */
  'complete-on-claim': {
    patches: [
      [
        'server/storage/sqlite/writer/tasks.ts',
        "SET state = 'running', attempts",
        "SET state = 'complete', run_at = NULL, attempts",
      ],
      [
        'server/storage/sqlite/writer/tasks.ts',
        "state = 'running' AND lease_token =",
        'lease_token =',
      ],
    ],
  },
  /** No protection removed: the leases of a stalled process expire sooner. */
  'short-lease': {
    patches: [
      ['server/tasks/worker.ts', 'const leaseMs = 10_000', 'const leaseMs = 1_000'],
      [
        'server/storage/postgres/writer/tasks.ts',
        'const heartbeatEveryMs = 3_000',
        'const heartbeatEveryMs = 300',
      ],
    ],
  },
  /** No protection removed: the worker logs how many results were rejected due to a lost lease. */
  'count-refused': {
    patches: [
      [
        'server/tasks/worker.ts',
        'await storage.completeTasks(results);',
        `const refused = (await storage.completeTasks(results)).filter((held) => !held).length;
         if (refused > 0) console.error('refused ' + refused);`,
      ],
    ],
  },
  'no-lease-token': {
    patches: [
      [
        'server/storage/postgres/writer/tasks.ts',
        "t.lease_token = v.lease_token AND t.state = 'running'",
        'true',
      ],
    ],
  },
  'no-project-filter': { sql: [[/m\.project_id = \+\? AND m\.id/, '? > 0 AND m.id']] },
  'no-expiry-in-get': {
    sql: [
      [
        /WHERE m\.project_id = \+\? AND m\.id = \+\? AND \(m\.expires_at IS NULL OR m\.expires_at > /,
        'WHERE m.project_id = +? AND m.id = +? AND (0 < ',
      ],
    ],
  },
  /** The stored response to an ingest does not name its memory, so no deletion cuts it down. */
  'no-memory-of-ingest': {
    patches: [
      [
        'server/memory/responses.ts',
        'return { memoryId, version: null, status: 202,',
        'return { memoryId: null, version: null, status: 202,',
      ],
    ],
  },
  'export-of-any-user': {
    patches: [
      [
        'server/http/transfer.ts',
        'withLimit(withBoundUser(readQuery(request.url), caller))',
        'withLimit(readQuery(request.url))',
      ],
    ],
  },
  /** A key that is bound to a user imports memories under the ids that it chooses. */
  'import-with-any-id': {
    patches: [
      [
        'server/http/transfer.ts',
        'const memories = await withOwnIds(caller, items.valid);',
        'const memories = items.valid;',
      ],
    ],
  },
  /** No protection removed: a shorter timeout closes a connection without a response. */
  'short-deadline': {
    patches: [
      [
        'server/storage/postgres/connection.ts',
        'const defaultDeadlineMs = 10_000',
        'const defaultDeadlineMs = 2_000',
      ],
    ],
  },
  /** Each server returns the results of a user's first search for all of the user's searches. */
  'search-once': {
    patches: [
      [
        'server/storage/pooled-reads.ts',
        "const { value, texts } = await run('searchMemories', read, { user, signal });",
        `const kept = (globalThis.keptSearches ??= new Map());
         if (!kept.has(user)) kept.set(user, await run('searchMemories', read, { user, signal }));
         const { value, texts } = kept.get(user);`,
      ],
    ],
  },
  /** Transactions lock keys and users in random order. */
  'unsorted-locks': {
    patches: [
      [
        'server/storage/postgres/writer/idempotency.ts',
        'insertKeys(rows.sort(byKey))',
        'insertKeys(rows.sort(() => Math.random() - 0.5))',
      ],
      [
        'server/storage/postgres/writer/users.ts',
        'upserts(rows.sort(byKey))',
        'upserts(rows.sort(() => Math.random() - 0.5))',
      ],
    ],
  },
  /**
   * No protection removed: a transaction pauses between the rows that it locks, and waits for
   * locks long enough for PostgreSQL to detect a deadlock.
   */
  'slow-locks': {
    patches: [
      [
        'server/storage/postgres/writer/write-queue.ts',
        "lock_timeout = '200ms'",
        "lock_timeout = '5s'",
      ],
      [
        'server/storage/postgres/writer/idempotency.ts',
        'return insertKeys(rows.sort(byKey));',
        `return insertKeys(rows.sort(byKey)).flatMap((one) => {
           return [one, statement('SELECT pg_sleep(0.1)')];
         });`,
      ],
    ],
  },
  'one-connection': {
    patches: [
      [
        'server/storage/postgres/shared-connection.ts',
        'const connections = 2',
        'const connections = 1',
      ],
    ],
  },
  'rate-limit-in-memory': {
    patches: [
      ['server/http/rate-limit.ts', 'const { takeQuota } = storage', 'const takeQuota = null'],
    ],
  },
  'no-rate-limit': { env: { MEMORY_RATE_LIMIT: 'off' } },
  'keys-cached-for-ever': {
    patches: [['server/http/authenticate.ts', 'const cachedMs = 500', 'const cachedMs = 1e9']],
  },
  'stop-at-once': {
    patches: [['server/main.ts', 'await listener.stop();', 'process.exit(0);']],
  },
  /** No protection removed: the worker takes longer for each document. */
  'slow-split': { handler: slowed, patches: [ownHandler] },
  /** No protection removed: documents change while the worker processes them. */
  'overtaken-worker': { handler: overtaken, patches: [ownHandler] },
  /** No protection removed: the queue limit is lower. */
  'small-queue': {
    patches: [['sdk/contract/limits.ts', 'pendingRecords: 100_000', 'pendingRecords: 1_000']],
  },
  'drop-when-full': {
    patches: [
      [
        'server/storage/sqlite/writer/records.ts',
        'queueLimit(projectId, records.length);',
        `try { queueLimit(projectId, records.length); } catch {
           const ids = records.map(({ id }) => id);
           return acceptedResponse(records, ids, new Set(ids), batch);
         }`,
      ],
    ],
  },
  'normalised-text': {
    patches: [
      ['server/memory/json.ts', '    content,\n', "    content: content.normalize('NFC'),\n"],
    ],
  },
  /** The device and inode numbers of the database file never appear to change. */
  'no-inode-check': {
    prepare: hideMoves,
    swaps: [
      ['node:fs', 'tests/faults/variants/frozen-fs.ts'],
      ['node:fs/promises', 'tests/faults/variants/frozen-fs-promises.ts'],
    ],
  },
  /** A link is followed even if the log of its target was left beside the link. */
  'no-link-check': {
    patches: [['server/storage/sqlite/path.ts', '  assertLogMoved(path, target);\n', '']],
  },
  'only-full-disk-noted': { hooks: maskErrors },
  /** Expensive requests block the HTTP thread. */
  'blocked-http-thread': { prepare: blockHttpThread },
  'slow-parse': { prepare: slowParse },
  /** MCP tools receive whole texts. */
  'whole-texts': {
    patches: [['server/mcp/client.ts', 'if (range !== null) ranges.set(request, range);', '']],
  },
  /** Any number of MCP calls may run at the same time. */
  'no-mcp-turns': {
    patches: [
      ['server/mcp/client.ts', 'maxRunning: 16', 'maxRunning: 1e9'],
      ['server/mcp/client.ts', 'maxProjectRunning: 4', 'maxProjectRunning: 1e9'],
    ],
  },
  'no-thread-watch': { prepare: ignoreThreads },
  /** The service is unchanged; the harness falsifies one read in the recorded history. */
  'falsified-read': {},
  /** The service is unchanged; the primary does not wait for its standby. */
  'asynchronous-standby': {},
  'no-body-limit': { env: { MEMORY_MAX_BODY_BYTES: '1073741824' } },
  'no-structure-check': { hooks: soundStructure },
  /** Changes the CLI: each batch has a random idempotency key. */
  'keys-at-random': {
    patches: [['cli/bulk/chunks.ts', "hash.digest('hex')", 'crypto.randomUUID()']],
  },
  'throwing-route': {
    patches: [
      [
        'server/storage/sqlite/reader/memories.ts',
        'getStatus: status,',
        'getStatus: (read) => read.id.includes("7") ? [].at(-1).x : status(read),',
      ],
    ],
  },
};
