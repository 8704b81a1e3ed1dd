import { workerData } from 'node:worker_threads';
import { limits } from '../../../../sdk/contract/limits.ts';
import type { Port } from '../../../threads/channel.ts';
import { type Inbox, type Incoming, openInbox, parent, watched } from '../../../threads/serve.ts';
import type { MaintenanceReport } from '../../maintenance-storage.ts';
import type { WriteResult } from '../../storage.ts';
import { watchFile } from '../file-identity.ts';
import {
  maxSmallRows,
  type WriterNotice,
  type WriterOrder,
  type WriterStart,
} from '../protocol.ts';
import { applySetting, closeKeepingLog, openForWriting } from '../settings.ts';
import { createCheckpoints } from './checkpoints.ts';
import { createGroupCommit, unfinished } from './group-commit.ts';
import { createWriteHealth } from './health.ts';
import { type Operations, openWrites } from './operations.ts';
import { createScrubber } from './scrub.ts';

/**
 * The writer thread owns the only connection that writes data. If SQLite blocks, only this thread
 * waits. The HTTP thread and the tasks thread send calls through separate ports.
 */

/** How long to wait for an admin command that is writing. */
const busyTimeoutMs = 500;
const scrubEveryMs = 500;
const expiredPerRun = 200;
const keysPerRun = 1_000;

const { path } = workerData as WriterStart;
const db = openForWriting(path);
applySetting(db, 'busy_timeout', busyTimeoutMs);
// The checkpoint thread makes checkpoints on request, so SQLite's automatic checkpoints are off.
applySetting(db, 'wal_autocheckpoint', 0);

const notify = (notice: WriterNotice) => parent().postMessage(notice);
const inboxes: Inbox[] = [];

const fileCheck = watchFile(path);
const health = createWriteHealth({ db, fileCheck, changed: (fault) => notify({ fault }) });
const checkpoints = createCheckpoints({
  db,
  path,
  request: (checkpoint) => notify({ checkpoint }),
  onSyncFailure: () => notify({ syncFailed: true }),
});
const scrubber = createScrubber({
  db,
  path,
  checkpoints,
  warn: (message, error) => notify({ warning: message, error: String(error) }),
});
const { operations, keys, removal, uptime } = openWrites(db, scrubber);
const group = createGroupCommit({
  db,
  health,
  run,
  settled() {
    flushReplies();
    checkpoints.committed();
  },
});

function flushReplies(): void {
  for (const inbox of inboxes) inbox.flushReplies();
}

function run(call: Incoming): (() => void) | typeof unfinished {
  const operation = call.operation as keyof Operations | 'maintain';
  if (operation === 'maintain') {
    const report = maintain(call.argument as { now: number; elapsedMs: number });
    return () => call.reply(report);
  }
  const outcome = operations[operation](attachTexts(call) as never);
  if (outcome === unfinished) return unfinished;
  return () => replyTo(call, outcome);
}

/**
 * Restores the memories' contents. They are sent separately from the JSON, but in the same order.
 */
function attachTexts({ argument, texts }: Incoming): unknown {
  const { memory, records, memories } = argument as Record<string, unknown>;
  const owners = memory === undefined ? (records ?? memories ?? []) : [memory];
  for (const [index, owner] of (owners as { content: string }[]).entries()) {
    owner.content = texts[index] ?? '';
  }
  return argument;
}

/** Sends a response body separately, so that it is not encoded as JSON twice. */
function replyTo(call: Incoming, outcome: unknown): void {
  if (typeof outcome !== 'object' || outcome === null || !('response' in outcome)) {
    call.reply(outcome);
    return;
  }
  const { response, ...rest } = outcome as WriteResult;
  call.reply({ response: { ...response, body: '' }, ...rest }, [response.body]);
}

function maintain({ now, elapsedMs }: { now: number; elapsedMs: number }): MaintenanceReport {
  uptime.add(elapsedMs);
  const expired = removal.removeExpired(now, expiredPerRun);
  const keptMs = limits.idempotencyKeptMs;
  const expiredKeys = keys.sweep({ now, keptMs, limit: keysPerRun });
  const more = expired.more || expiredKeys > 0;
  return { expiredMemories: expired.removed, expiredKeys, more };
}

/** A checkpoint cannot run inside a transaction. */
function takeWrites(call: Incoming): void {
  if (call.operation === 'finishCheckpoint') {
    checkpoints.finish();
    call.reply(null);
    flushReplies();
  } else group.take(call, call.texts.length <= maxSmallRows ? 'small' : 'large');
}

/**
 * The tasks thread and the model thread write many rows per call, and no client waits for them.
 */
function takeTasks(call: Incoming): void {
  group.take(
    call,
    /^(claimTasks|completeTasks|storeVectors)$/.test(call.operation) ? 'large' : 'small',
  );
}

function listen(port: Port, take: (call: Incoming) => void): void {
  inboxes.push(openInbox(port, take));
}

parent().on('message', (order: WriterOrder | unknown) => {
  if (typeof order !== 'object' || order === null || Array.isArray(order)) return;
  const { port, checkpointed } = order as WriterOrder;
  if (port !== undefined) listen(port, takeTasks);
  if (checkpointed !== undefined) checkpoints.made(checkpointed);
});
listen(parent(), takeWrites);
const scrubbing = setInterval(scrubber.runIfDue, scrubEveryMs);

watched(() => {
  clearInterval(scrubbing);
  health.stop();
  group.drain();
  // After a failed sync, the file may lack pages from the WAL, so the WAL is kept.
  if (checkpoints.syncFailed()) closeKeepingLog(path, db);
  else db.close(true); // mutate-ignore removal: the thread ends
});
