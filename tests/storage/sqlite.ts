import { Database } from 'bun:sqlite';
import { expect } from 'bun:test';
import { join } from 'node:path';
import * as admin from '../../server/admin.ts';
import { openStorage } from '../../server/storage/open.ts';
import type { OpenOptions, Storage } from '../../server/storage/storage.ts';
import type { NewMemory, WriteResult } from '../../server/storage/types/memories.ts';
import { createThreads, type ThreadsOptions } from '../../server/threads/start.ts';
import { temporaryFolder } from '../support/folder.ts';
import { memory, type Opened, type OpenStorage } from './fixtures.ts';

export type OpenedFile = Opened & { path: string; [Symbol.asyncDispose](): Promise<void> };

/** Functions of server/storage/open.ts and server/admin.ts, for a path instead of a URL. */
const urlOf = (path: string) => `sqlite:${path}`;
export const openFile = (path: string, options?: OpenOptions) => openStorage(urlOf(path), options);
export const openKeys = (path: string, options: { create: boolean }) =>
  admin.openAdmin(urlOf(path), options);
export const backUp = (path: string, target: string) => admin.backup(urlOf(path), target);
export const diagnoseFile = (path: string, now?: number) => admin.doctor(urlOf(path), now);

/** `preload` names modules of this folder, which every thread of the storage loads first. */
export async function openInFolder(options: ThreadsOptions = {}): Promise<OpenedFile> {
  const folder = temporaryFolder();
  const path = folder.file('memory.db');
  const preload = options.preload?.map((name) => join(import.meta.dir, name)) ?? [];
  const open = () => openFile(path, { threads: createThreads({ ...options, preload }) });
  const opened: OpenedFile = {
    path,
    url: urlOf(path),
    storage: await open(),
    async reopen() {
      await opened.storage.close();
      opened.storage = await open();
      return opened.storage;
    },
    async dispose() {
      await opened.storage.close();
      folder[Symbol.dispose]();
    },
    [Symbol.asyncDispose]: () => opened.dispose(),
  };
  return opened;
}

/** Opens an SQLite storage for the conformance suite. */
export const openSqliteStorage: OpenStorage = ({ smallQueue = false } = {}) => {
  return openInFolder({ preload: smallQueue ? ['small-queue.ts'] : [] });
};

/** Opens the database file, saves `count` memories one by one, and closes the file. */
export async function fill(path: string, count: number, text = 'text'): Promise<void> {
  const storage = await openFile(path);
  await saveMany(storage, count, text);
  await storage.close();
}

export async function saveMany(storage: Storage, count: number, text = 'text'): Promise<void> {
  for (let n = 0; n < count; n += 1) await saveOne(storage, { content: `${text} ${n}` });
}

export function saveOne(storage: Storage, fields: Partial<NewMemory> = {}): Promise<WriteResult> {
  const write = { projectId: 1, at: 1_000, idempotency: null };
  return storage.saveMemory({ ...write, memory: memory(fields) });
}

/** Restores the backup at the time of the memories in these tests. */
export function restore(
  backup: string,
  path: string,
  { eraseAgain = false, now = 1_000 } = {},
): Promise<admin.Restored> {
  return admin.restore(urlOf(path), backup, { eraseAgain, now });
}

/** The end of the name of a file that this restore has set aside. */
export const setAside = '.before-1970-01-01T00-00-01-000Z';

/** Checks the integrity of the file and returns the number of rows in the table. */
export function countIn(file: string, table: 'memories' | 'api_keys' = 'memories'): number {
  const db = new Database(file, { readonly: true });
  try {
    expect(db.prepare('PRAGMA integrity_check').values()).toEqual([['ok']]);
    return Number(db.prepare(`SELECT count(*) FROM ${table}`).values()[0]?.[0]);
  } finally {
    // Otherwise the file would stay open until `db` is garbage-collected.
    db.close(true);
  }
}

const imported = 'backUp, diagnoseFile, openFile, openKeys, restore, saveOne';
const imports = `import { ${imported} } from '${import.meta.path}';`;

/** Runs a program, which can use functions of this file, in another process. */
export function inOtherProcess(
  program: string,
  env: Record<string, string>,
  under: readonly string[] = [],
) {
  return Bun.spawn([...under, process.execPath, '-e', `${imports}\n${program}`], {
    env: { ...process.env, ...env },
    stderr: 'pipe',
  });
}

/** Runs a program with which SQLite gets EFBIG, like any other disk error, beyond 2 MB. */
export const withSmallFiles = ['bash', '-c', `trap '' XFSZ; ulimit -f 2000; exec "$@"`, 'bash'];
