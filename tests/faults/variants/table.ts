import type { Handler } from '../../../server/tasks/handlers.ts';
import type { FaultPoint } from '../../../server/threads/fault-points.ts';
import { commitLate } from './early.ts';
import { completedFirst, overtaken, poisoned, rejectionsCounted, slowed } from './handlers.ts';
import * as http from './http.ts';
import { maskErrors, swallowErrors, withoutSync } from './sql-faults.ts';
import type { Hook } from './statements.ts';

/** The values that replace those of the service at its fault points. */
export type Points = Partial<Record<FaultPoint, unknown>>;

/**
 * A change to the service for a harness. Most variants remove one protection, or imitate its loss.
 * Those marked "No protection removed" only make certain conditions occur. A variant hooks into the
 * interfaces of libraries and into the fault points of the service, and never into its source text.
 */
export type Variant = {
  /** Runs in each thread before it loads the service. */
  prepare?(): void;
  http?: http.Middleware;
  hooks?: Hook[];
  points?: Points;
  env?: Record<string, string>;
  handler?(inner: Handler): Handler;
};

export const variants: Record<string, Variant> = {
  /** No protection removed: some records make the worker throw, and some end the process. */
  poison: { handler: poisoned },
  'answer-early': { hooks: commitLate },
  'commit-error-swallowed': { hooks: swallowErrors(/^COMMIT\b/i) },
  /** COMMIT acknowledges data that is only in the operating system's cache. */
  'no-sync': { hooks: withoutSync },
  'no-replay': { http: http.ignoreKeys },
  'no-lease-check': { points: { 'lease-check': "CASE WHEN state = '' THEN false ELSE 0 <" } },
  'complete-on-claim': { handler: completedFirst },
  /** No protection removed: the leases of a stalled process expire sooner. */
  'short-lease': { points: { 'lease-ms': 1_000, 'heartbeat-ms': 300 } },
  /** No protection removed: the worker prints how many results were rejected. */
  'count-rejected': { handler: rejectionsCounted },
  'search-once': { http: http.searchOnce() },
  /** No protection removed: the worker takes longer for each document. */
  'slow-split': { handler: slowed },
  /** No protection removed: documents change while the worker processes them. */
  'overtaken-worker': { handler: overtaken },
  'only-full-disk-noted': { hooks: maskErrors },
  /** Expensive requests block the HTTP thread. */
  'blocked-http-thread': { http: http.blockHttpThread },
  'slow-parse': { prepare: http.slowParse },
  /** MCP tools receive whole texts. */
  'whole-texts': { points: { 'content-ranges': false } },
  /** Any number of MCP calls may run at the same time. */
  'no-mcp-turns': { points: { 'mcp-turns': noTurns() } },
  /** The service is unchanged; each statement that another variant changes is noted. */
  noted: {
    get hooks() {
      const all = Object.entries(variants).filter(([name]) => name !== 'noted');
      return all.flatMap(([, { hooks = [] }]) =>
        hooks.map(({ match }) => ({ match, replace: () => ({}) })),
      );
    },
  },
  /** The service is unchanged; the primary does not wait for its standby. */
  'asynchronous-standby': {},
  'no-body-limit': { env: { MEMORY_MAX_BODY_BYTES: '1073741824' } },
  /** Changes the CLI: each batch has a random idempotency key. */
  'keys-at-random': { prepare: http.randomKeys },
};

function noTurns() {
  const [running, waiting] = [1e9, 1e12].map((limit) => ({ total: limit, project: limit }));
  return { running, waiting, maxWaitMs: 10_000 };
}
