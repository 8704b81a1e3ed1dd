import { Database } from 'bun:sqlite';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { $ } from 'bun';
import type { Dataset } from '../kit/dataset.ts';
import { launch, type Subject } from '../kit/process.ts';
import { benchKey } from '../kit/requests.ts';

const here = import.meta.dir;

export const fastify = 'fastify + better-sqlite3, FULL';

/** Installs fastify from its own lockfile, because it is not a dependency of the product. */
export async function startFastify(folder: string, path: string): Promise<Subject> {
  if (!existsSync(join(here, 'node_modules/better-sqlite3/build/Release/better_sqlite3.node'))) {
    await $`${process.execPath} install --frozen-lockfile --ignore-scripts --cwd ${here}`.quiet();
    // The install script must run on Node, which runs the server.
    await $`npm rebuild --prefix ${here}`.quiet();
  }
  const spec = JSON.stringify({ path, key: benchKey });
  return launch(['node', join(here, 'server.js'), spec], folder);
}

/** Stores a dataset as fastify does. */
export function fillFastify({ count, memoryAt }: Dataset, path: string): void {
  const db = new Database(path, { create: true });
  db.run('PRAGMA journal_mode = WAL');
  db.run(readFileSync(join(here, 'schema.sql'), 'utf8'));
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
