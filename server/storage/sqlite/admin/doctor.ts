import { Database, SQLiteError } from 'bun:sqlite';
import { existsSync, realpathSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { aboutRows, ok, unfinishedCopyFound } from '../../findings.ts';
import type { Finding } from '../../types/admin.ts';
import { openFault } from '../access.ts';
import { structuralFaults } from '../check.ts';
import { isDamage } from '../errors.ts';
import { isLocked } from '../lock.ts';
import { assertOurs, isUnfinishedCopy } from '../migrate.ts';
import { assertWhole, logBytes, longLogBytes } from '../path.ts';
import { busyTimeoutMs } from '../settings.ts';
import { createTx } from '../transaction.ts';
import { maxRebuiltBytes } from '../writer/scrub.ts';

const spareBytes = 512 * 1024 * 1024;

export async function diagnose(name: string, now: number): Promise<Finding[]> {
  try {
    assertWhole(name);
  } catch (error) {
    return [aboutFault(error, name)];
  }
  if (!existsSync(name)) {
    const advice = 'start a server to create the file, or specify another database with --database';
    return [{ name: 'database', level: 'failure', found: `no file at ${name}`, advice }];
  }
  // The log and the lock are next to the file, not next to a link.
  const path = realpathSync(name);
  const findings = [aboutServer(path), aboutOwner(path), aboutSpace(path), aboutLog(path)];
  try {
    using db = new Database(path, { readonly: true });
    findings.push(...(await aboutContents(db, path, now)));
  } catch (error) {
    findings.push(aboutFault(error, path));
  }
  return findings;
}

const restoreAdvice = 'stop the server and restore the last backup: memory restore <backup>';

/** This program's own errors already contain advice. SQLite's errors get advice here. */
function aboutFault(error: unknown, path: string): Finding {
  const found = error instanceof Error ? error.message : 'the database cannot be read';
  const fault: Finding = { name: 'database', level: 'failure', found };
  if (isDamage(error)) return { ...fault, advice: restoreAdvice };
  if (!(error instanceof SQLiteError)) return fault;
  const advice = 'check the permissions of the file and its folder, and the free disk space';
  return { ...fault, found: openFault(path, error), advice };
}

async function aboutContents(db: Database, path: string, now: number): Promise<Finding[]> {
  db.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  const ours = assertOurs(db, path);
  if (ours.schema === 0) {
    const advice = `${restoreAdvice}; a server would start with an empty database`;
    return [{ name: 'database', level: 'failure', found: 'the file is empty', advice }];
  }
  const findings = [aboutVersion(db, ours), aboutStructure(db)];
  if (isUnfinishedCopy(db)) return [...findings, unfinishedCopyFound];
  if (ours.behind) return findings;
  return [...findings, ...(await aboutRows(createTx(db), now)), ...aboutErasure(db, path)];
}

function aboutServer(path: string): Finding {
  const isRunning = isLocked(path);
  if (isRunning === null) return ok('server', 'unknown: the file system is read-only');
  return ok('server', isRunning ? 'running' : 'not running');
}

function aboutOwner(path: string): Finding {
  const mode = statSync(path).mode & 0o777;
  const name = 'permissions';
  const found = mode.toString(8);
  if ((mode & 0o077) === 0) return ok(name, found);
  const advice =
    'other users of this machine may be able to access the file; ' +
    `run: chmod 600 ${quoted(path)}`;
  return { name, level: 'warning', found, advice };
}

function aboutSpace(path: string): Finding {
  const { bavail, bsize } = statfsSync(dirname(path));
  const free = bavail * bsize;
  const size = statSync(path).size + logBytes(path);
  const found = `${mebibytes(free)} free, the database uses ${mebibytes(size)}`;
  // mutate-ignore boundary: no disk has exactly this space
  if (free > spareBytes && free > size) return ok('disk', found);
  // mutate-ignore boundary: no disk has exactly this space
  const level = free > spareBytes ? 'warning' : 'failure';
  const advice = 'free up disk space: writes fail if the disk is full';
  return { name: 'disk', level, found, advice };
}

function aboutLog(path: string): Finding {
  const bytes = logBytes(path);
  const found = mebibytes(bytes);
  if (bytes < longLogBytes) return ok('write-ahead log', found);
  const advice =
    'a read transaction has been open for too long; if GET /health does not name the check of the ' +
    'file, stop the backup or program that reads the file, or restart the server';
  return { name: 'write-ahead log', level: 'warning', found, advice };
}

function aboutVersion(db: Database, { schema, behind }: ReturnType<typeof assertOurs>): Finding {
  const { version } = db.prepare('SELECT sqlite_version() AS version').get() as { version: string };
  const found = `schema ${schema}, SQLite ${version}`;
  if (!behind) return ok('version', found);
  return {
    name: 'version',
    level: 'ok',
    found,
    advice: 'the next server start upgrades the schema; until then, the contents are not examined',
  };
}

function aboutStructure(db: Database): Finding {
  const faults = structuralFaults(db);
  if (faults.length === 0) return ok('structure', 'sound');
  const found = faults.join('; ');
  return { name: 'structure', level: 'failure', found, advice: restoreAdvice };
}

function aboutErasure(db: Database, path: string): Finding[] {
  if (db.prepare(`SELECT 1 FROM maintenance WHERE name = 'scrub'`).get() === null) return [];
  const found = 'erased text may still be in the file';
  const rebuild = `"VACUUM; DELETE FROM maintenance WHERE name = 'scrub'"`;
  const advice =
    statSync(path).size > maxRebuiltBytes
      ? `stop the server, then run: sqlite3 ${quoted(path)} ${rebuild}`
      : 'a running server removes the text within ten minutes; if this warning remains, ' +
        'check the server log';
  return [{ name: 'erasure', level: 'warning', found, advice }];
}

/** Quotes an argument for a shell. */
function quoted(path: string): string {
  return `'${path.replaceAll("'", `'\\''`)}'`;
}

function mebibytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MiB`;
}
