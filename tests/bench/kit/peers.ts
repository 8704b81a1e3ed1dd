import { Database } from 'bun:sqlite';
import { readFileSync } from 'node:fs';
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
  fastifyNormal: {
    name: 'fastify + better-sqlite3, NORMAL',
    durability: 'survives a crash of the process; a power loss can lose the last commits',
  },
};
export type PeerName = keyof typeof peers;

export function startPeer(name: PeerName, folder: string, path: string): Promise<Subject> {
  const synchronous = name === 'fastifyFull' ? 'FULL' : 'NORMAL';
  const spec = { path, synchronous, key: benchKey };
  return launch(['node', join(peersFolder, 'fastify.js'), JSON.stringify(spec)], folder);
}

/** Stores a dataset as a peer does. */
export function fillPeer({ count, memoryAt }: Dataset, path: string): void {
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
