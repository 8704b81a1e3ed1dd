import { afterEach, beforeEach } from 'bun:test';
import { temporaryFolder } from '../support/folder.ts';
import { backUp, fill } from './sqlite.ts';

/* A folder for each test of a file, with the names of a database and of its backup. */

export let folder: ReturnType<typeof temporaryFolder>;
export let path: string;
export let backup: string;

/** By default, each test begins with three memories in the database and in the backup. */
export function withFiles(prepare: () => unknown = fillAndBackUp): void {
  beforeEach(async () => {
    folder = temporaryFolder();
    path = folder.file('memory.db');
    backup = folder.file('backup.db');
    await prepare();
  });
  afterEach(() => folder[Symbol.dispose]());
}

async function fillAndBackUp(): Promise<void> {
  await fill(path, 3);
  await backUp(path, backup);
}
