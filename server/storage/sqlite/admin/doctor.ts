import { Database, SQLiteError } from 'bun:sqlite';
import { existsSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Finding } from '../../admin-storage.ts';
import { structuralFaults } from '../check.ts';
import { isDamage } from '../errors.ts';
import { isLocked } from '../lock.ts';
import { assertOurs } from '../migrate.ts';
import { assertWhole } from '../path.ts';
import { busyTimeoutMs } from '../settings.ts';
import { maxRebuiltBytes } from '../writer/scrub.ts';

const spareBytes = 512 * 1024 * 1024;
const longLogBytes = 256 * 1024 * 1024;
const stuckMs = 5 * 60_000;

export function diagnose(path: string, now: number): Finding[] {
  try {
    assertWhole(path);
  } catch (error) {
    return [aboutFault(error)];
  }
  if (!existsSync(path)) {
    const advice = 'start a server to create it, or specify another database with --database';
    return [{ name: 'database', level: 'failure', found: `no file at ${path}`, advice }];
  }
  const findings = [aboutServer(path), aboutOwner(path), aboutSpace(path), aboutLog(path)];
  let db: Database | null = null;
  try {
    db = new Database(path, { readonly: true });
    findings.push(...aboutContents(db, path, now));
  } catch (error) {
    findings.push(aboutFault(error));
  } finally {
    db?.close(true);
  }
  return findings;
}

const restoreAdvice = 'stop the server and restore the last backup: memory restore <backup>';

/** Errors of this program already contain advice. SQLite's errors get advice here. */
function aboutFault(error: unknown): Finding {
  const found = error instanceof Error ? error.message : 'the database cannot be read';
  const fault: Finding = { name: 'database', level: 'failure', found };
  if (isDamage(error)) return { ...fault, advice: restoreAdvice };
  if (!(error instanceof SQLiteError)) return fault;
  const advice = 'check the permissions of the file and its folder, and the free disk space';
  return { ...fault, advice };
}

function aboutContents(db: Database, path: string, now: number): Finding[] {
  db.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  const ours = assertOurs(db, path);
  if (ours.schema === 0) {
    const advice = `${restoreAdvice}; a server would start with an empty database`;
    return [{ name: 'database', level: 'failure', found: 'the file is empty', advice }];
  }
  return [
    aboutVersion(db, ours),
    aboutStructure(db),
    aboutKeys(db, now),
    ...aboutWork(db, now),
    ...aboutErasure(db, path),
  ];
}

function aboutServer(path: string): Finding {
  return { name: 'server', level: 'ok', found: isLocked(path) ? 'running' : 'not running' };
}

function aboutOwner(path: string): Finding {
  const mode = statSync(path).mode & 0o777;
  const name = 'permissions';
  const found = mode.toString(8);
  if ((mode & 0o077) === 0) return { name, level: 'ok', found };
  return {
    name,
    level: 'warning',
    found,
    advice: `other users of this machine may be able to access the file; run: chmod 600 ${path}`,
  };
}

function aboutSpace(path: string): Finding {
  const { bavail, bsize } = statfsSync(dirname(path));
  const free = bavail * bsize;
  const size = statSync(path).size + logBytes(path);
  const found = `${megabytes(free)} free, the database uses ${megabytes(size)}`;
  if (free > spareBytes && free > size) return { name: 'disk', level: 'ok', found };
  const level = free > spareBytes ? 'warning' : 'failure';
  return { name: 'disk', level, found, advice: 'free disk space: writes fail if the disk is full' };
}

function logBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

function aboutLog(path: string): Finding {
  const bytes = logBytes(path);
  const found = megabytes(bytes);
  if (bytes < longLogBytes) return { name: 'write-ahead log', level: 'ok', found };
  const advice =
    'a read transaction has been open for too long; stop the backup or program that reads the file, ' +
    'or restart the server';
  return { name: 'write-ahead log', level: 'warning', found, advice };
}

function aboutVersion(db: Database, { schema, behind }: ReturnType<typeof assertOurs>): Finding {
  const { version } = db.prepare('SELECT sqlite_version() AS version').get() as { version: string };
  const found = `schema ${schema}, SQLite ${version}`;
  if (!behind) return { name: 'version', level: 'ok', found };
  return {
    name: 'version',
    level: 'ok',
    found,
    advice: 'the next server start upgrades the schema',
  };
}

function aboutStructure(db: Database): Finding {
  const faults = structuralFaults(db);
  if (faults.length === 0) return { name: 'structure', level: 'ok', found: 'sound' };
  const found = faults.join('; ');
  return { name: 'structure', level: 'failure', found, advice: restoreAdvice };
}

function aboutKeys(db: Database, now: number): Finding {
  const { n } = db
    .prepare(
      `SELECT count(*) AS n FROM api_keys
       WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`,
    )
    .get(now) as { n: number };
  if (n > 0) return { name: 'keys', level: 'ok', found: `${n} in use` };
  const advice = 'create a key with "memory keys create", or set MEMORY_API_KEY for the server';
  return { name: 'keys', level: 'warning', found: 'none', advice };
}

function aboutWork(db: Database, now: number): Finding[] {
  const { pending, oldest, failed } = db
    .prepare(
      `SELECT count(*) FILTER (WHERE state IN ('waiting', 'running')) AS pending,
         min(accepted_at) FILTER (WHERE state IN ('waiting', 'running')) AS oldest,
         count(*) FILTER (WHERE state = 'failed') AS failed FROM tasks`,
    )
    .get() as { pending: number; oldest: number | null; failed: number };
  const waits = oldest === null ? 0 : now - oldest;
  const waiting: Finding = {
    name: 'queue',
    level: waits > stuckMs ? 'warning' : 'ok',
    found: `${pending} pending${pending > 0 ? `, the oldest for ${Math.round(waits / 1_000)} s` : ''}`,
    ...(waits > stuckMs && {
      advice: 'check that a server is running, then check its log and GET /health',
    }),
  };
  if (failed === 0) return [waiting];
  const advice = 'memory status <id> shows the reason; to retry, ingest the record again';
  return [waiting, { name: 'failed records', level: 'warning', found: String(failed), advice }];
}

function aboutErasure(db: Database, path: string): Finding[] {
  if (db.prepare(`SELECT 1 FROM maintenance WHERE name = 'scrub'`).get() === null) return [];
  const found = 'erased text may still be in the file';
  const advice =
    statSync(path).size > maxRebuiltBytes
      ? `when writes can wait, run: sqlite3 ${path} "VACUUM; DELETE FROM maintenance WHERE name = 'scrub'"`
      : 'a running server removes it within ten minutes; if this warning remains, check its log';
  return [{ name: 'erasure', level: 'warning', found, advice }];
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MB`;
}
