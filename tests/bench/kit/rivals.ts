import { Database } from 'bun:sqlite';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rivalsFolder } from './install.ts';
import { type Subject, start } from './process.ts';
import { benchKey } from './requests.ts';

/** What a rival is, and what it says of an answered save. */
export const rivals = {
  expressFull: {
    name: 'express + better-sqlite3, FULL',
    promise: 'on the disk when answered: a commit for each request',
  },
  fastifyFull: {
    name: 'fastify + better-sqlite3, FULL',
    promise: 'on the disk when answered: a commit for each request',
  },
  expressNormal: {
    name: 'express + better-sqlite3, NORMAL',
    promise: 'survives the end of the process; the last commits are lost with the power',
  },
  fastifyNormal: {
    name: 'fastify + better-sqlite3, NORMAL',
    promise: 'survives the end of the process; the last commits are lost with the power',
  },
  jsonServer: {
    name: 'json-server',
    promise:
      'none: the whole file is written anew for each save, in place and without waiting for the ' +
      'disk, so a crash meanwhile can take all of it',
  },
};
export type RivalName = keyof typeof rivals;

export function startRival(name: RivalName, folder: string, path: string): Promise<Subject> {
  const program = name.startsWith('express')
    ? 'express.js'
    : name.startsWith('fastify')
      ? 'fastify.js'
      : 'json-server.js';
  const synchronous = name.endsWith('Full') ? 'FULL' : 'NORMAL';
  const spec = { path, synchronous, key: benchKey };
  return start(['node', join(rivalsFolder, program), JSON.stringify(spec)], folder);
}

/** The same list, in the words of the rival. */
export function listOf(name: RivalName | 'service', path: string): string {
  if (name !== 'jsonServer') return path;
  return path.replace('limit=', '_sort=createdAt&_order=desc&_limit=');
}

/** Gives a rival the memories of a database of ours, in the form in which it keeps them. */
export function handOver(name: RivalName, from: string, path: string): void {
  if (name === 'jsonServer') writeJson(from, path);
  else writeTable(from, path);
}

function writeTable(from: string, path: string): void {
  const db = new Database(path, { create: true });
  db.run('PRAGMA journal_mode = WAL');
  db.run(readFileSync(join(rivalsFolder, 'schema.sql'), 'utf8'));
  db.run('ATTACH ? AS ours', [from]);
  db.run(`INSERT INTO main.memories SELECT id, user_id, content, metadata, created_at, updated_at
    FROM ours.memories ORDER BY id`);
  db.close();
}

function writeJson(from: string, path: string): void {
  const db = new Database(from, { readonly: true });
  const rows = db
    .prepare(
      'SELECT id, user_id AS userId, content, metadata, created_at AS createdAt FROM memories',
    )
    .all() as { metadata: string }[];
  db.close();
  const memories = rows.map((row) => ({ ...row, metadata: JSON.parse(row.metadata) as object }));
  writeFileSync(path, JSON.stringify({ memories }));
}
