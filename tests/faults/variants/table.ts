import { commitLate } from './early.ts';
import type { Patch } from './patch.ts';
import { type Index, poisoned, slowed, splitFine } from './splits.ts';

/** A way in which the service is changed for a harness; most take one protection away. */
export type Variant = {
  /** Runs before the service is loaded. */
  prepare?(): void;
  patches?: Patch[];
  env?: Record<string, string>;
  index?(inner: Index): Index;
};

/** Puts the worker's cutting of texts into the hands of the variant. */
const ownIndex: Patch = [
  'server/main.ts',
  'index: indexInTurns',
  'index: globalThis.faultIndex(indexInTurns)',
];

export const variants: Record<string, Variant> = {
  /** Not broken: many small passages, so that one text takes several steps to store. */
  'fine-split': { index: () => splitFine, patches: [ownIndex] },
  /** Not broken: some records throw, and some end the process. */
  poison: { index: poisoned, patches: [ownIndex] },
  'answer-early': {
    prepare: commitLate,
    // SQLite refuses it while the commit before is open.
    patches: [['server/storage/sqlite/writer.ts', 'db.run(`PRAGMA synchronous', '(`']],
  },
  'commit-error-swallowed': {
    patches: [
      ['server/storage/sqlite/writer.ts', 'commit.run();', 'try { commit.run(); } catch {}'],
      ['server/storage/sqlite/wal.ts', 'throw outcomeUnknown(error);', ''],
    ],
  },
  'no-sync': {
    patches: [
      ['server/storage/sqlite/wal.ts', 'await syncInPool(file());', ''],
      ['server/storage/sqlite/writer.ts', "? 'FULL'", "? 'NORMAL'"],
    ],
  },
  'no-sync-alone': {
    patches: [['server/storage/sqlite/writer.ts', "? 'FULL'", "? 'NORMAL'"]],
  },
  'shown-at-once': {
    patches: [['server/storage/sqlite/writer.ts', 'snapshot.hold();', '']],
  },
  'no-replay': {
    patches: [
      ['server/storage/sqlite/answers.ts', 'project_id = ? AND key = ?', '0 = ? AND key = ?'],
      [
        'server/storage/sqlite/migrations/001-memories.sql',
        'CREATE UNIQUE INDEX answers_by_key',
        'CREATE INDEX answers_by_key',
      ],
    ],
  },
  'constant-fingerprint': {
    patches: [['server/http/idempotency.ts', 'fingerprint: hash.digest()', "fingerprint: 'any'"]],
  },
  'no-lease-check': {
    patches: [['server/storage/sqlite/jobs.ts', "state = 'running' AND lease_token =", '0 <']],
  },
  'no-project-filter': {
    patches: [
      ['server/storage/sqlite/memories.ts', 'm.project_id = +? AND m.id', '? > 0 AND m.id'],
    ],
  },
  'no-rate-limit': { env: { MEMORY_RATE_LIMIT: 'off' } },
  'keys-cached-for-ever': {
    patches: [['server/http/authenticate.ts', 'const cachedMs = 500', 'const cachedMs = 1e9']],
  },
  'stop-at-once': {
    patches: [['server/main.ts', 'await listener.stop();', 'process.exit(0);']],
  },
  /** Not broken: the worker takes a moment over each text. */
  'slow-split': { index: slowed, patches: [ownIndex] },
  /** Not broken: room for fewer records. */
  'small-queue': {
    patches: [['sdk/contract/limits.ts', 'pendingRecords: 100_000', 'pendingRecords: 1_000']],
  },
  'drop-when-full': {
    patches: [
      [
        'server/storage/sqlite/records.ts',
        'ensureRoom(projectId, records.length);',
        `try { ensureRoom(projectId, records.length); } catch {
           return { outcome: records.map(({ id }) => id) };
         }`,
      ],
    ],
  },
  'normalised-text': {
    patches: [
      ['server/memory/json.ts', '    content,\n', "    content: content.normalize('NFC'),\n"],
    ],
  },
  'no-body-limit': { env: { MEMORY_MAX_BODY_BYTES: '1073741824' } },
  'no-structure-check': {
    patches: [
      [
        'server/storage/sqlite/check.ts',
        "rows.map(([line]) => String(line)).filter((line) => line !== 'ok')",
        '[]',
      ],
      ['server/storage/sqlite/check.ts', `PRAGMA \${check}(`, 'SELECT (1 + '],
    ],
  },
  /** Of the command line. */
  'keys-at-random': {
    patches: [['cli/batch/run.ts', "hash.digest('hex')", 'crypto.randomUUID()']],
  },
  'throwing-route': {
    patches: [
      [
        'server/storage/sqlite/jobs.ts',
        'getStatus: async (projectId, id) =>',
        'getStatus: async (projectId, id) => id.includes("7") ? [].at(-1).x :',
      ],
    ],
  },
};
