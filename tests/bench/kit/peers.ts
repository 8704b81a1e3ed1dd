import { Database } from 'bun:sqlite';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Dataset } from './dataset.ts';
import { peersFolder } from './install-peers.ts';
import { launch, type Subject } from './process.ts';
import { benchKey } from './requests.ts';

/** Other servers. `durability` says what an acknowledged save survives. */
export const peers = {
  fastifyFull: {
    name: 'fastify + better-sqlite3, FULL',
    durability: 'on disk before the response: one commit per request',
  },
  expressFull: {
    name: 'express + better-sqlite3, FULL',
    durability: 'on disk before the response: one commit per request',
  },
  fastifyNormal: {
    name: 'fastify + better-sqlite3, NORMAL',
    durability: 'survives a crash of the process; a power loss can lose the last commits',
  },
  expressNormal: {
    name: 'express + better-sqlite3, NORMAL',
    durability: 'survives a crash of the process; a power loss can lose the last commits',
  },
  jsonServer: {
    name: 'json-server',
    durability:
      'none: every save rewrites the whole file in place without fsync, so a crash can lose all ' +
      'of it',
  },
};
export type PeerName = keyof typeof peers;

export function startPeer(name: PeerName, folder: string, path: string): Promise<Subject> {
  const synchronous = name.endsWith('Full') ? 'FULL' : 'NORMAL';
  const spec = { path, synchronous, key: benchKey };
  return launch(['node', join(peersFolder, programOf(name)), JSON.stringify(spec)], folder);
}

function programOf(name: PeerName): string {
  if (name === 'jsonServer') return 'json-server.js';
  return name.startsWith('express') ? 'express.js' : 'fastify.js';
}

/** Translates the path of a list to the peer's query syntax. */
export function listPathOn(name: PeerName | 'service', path: string): string {
  if (name !== 'jsonServer') return path;
  return path.replace('limit=', '_sort=createdAt&_order=desc&_limit=');
}

/** Stores a dataset in the peer's storage format. */
export function fillPeer(name: PeerName, dataset: Dataset, path: string): void {
  if (name === 'jsonServer') writeJson(dataset, path);
  else writeTable(dataset, path);
}

function writeTable({ count, memoryAt }: Dataset, path: string): void {
  const db = new Database(path, { create: true });
  db.run('PRAGMA journal_mode = WAL');
  db.run(readFileSync(join(peersFolder, 'schema.sql'), 'utf8'));
  const insert = db.prepare('INSERT INTO memories VALUES (?, ?, ?, ?, ?, ?)');
  db.transaction(() => {
    for (let at = 0; at < count; at += 1) {
      const { id, userId, content, metadata, createdAt } = memoryAt(at);
      const time = Date.parse(createdAt);
      insert.run(id, userId, content, JSON.stringify(metadata), time, time);
    }
  })();
  db.close();
}

function writeJson({ count, memoryAt }: Dataset, path: string): void {
  const memories = Array.from({ length: count }, (_, at) => memoryAt(at));
  writeFileSync(path, JSON.stringify({ memories }));
}
