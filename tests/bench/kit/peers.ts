import { Database } from 'bun:sqlite';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { $ } from 'bun';
import type { Dataset } from './dataset.ts';
import { launch, type Subject } from './process.ts';
import { benchKey } from './requests.ts';

const folderOfPeers = join(import.meta.dir, '../peers');

/** The names of other servers. */
export const peers = {
  fastifyFull: 'fastify + better-sqlite3, FULL',
  fastifyNormal: 'fastify + better-sqlite3, NORMAL',
};
export type PeerName = keyof typeof peers;

/** Installs the peers from their own lockfile, because they are not dependencies of the product. */
export async function startPeer(name: PeerName, folder: string, path: string): Promise<Subject> {
  const isInstalled = existsSync(join(folderOfPeers, 'node_modules/.package-lock.json'));
  if (!isInstalled) await $`npm ci --no-audit --no-fund --prefix ${folderOfPeers}`.quiet();
  const synchronous = name === 'fastifyFull' ? 'FULL' : 'NORMAL';
  const spec = JSON.stringify({ path, synchronous, key: benchKey });
  return launch(['node', join(folderOfPeers, 'fastify.js'), spec], folder);
}

/** Stores a dataset as a peer does. */
export function fillPeer({ count, memoryAt }: Dataset, path: string): void {
  const db = new Database(path, { create: true });
  db.run('PRAGMA journal_mode = WAL');
  db.run(readFileSync(join(folderOfPeers, 'schema.sql'), 'utf8'));
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
