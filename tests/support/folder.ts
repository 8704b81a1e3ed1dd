import { afterAll } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates a folder that is removed on disposal. */
export function temporaryFolder() {
  const path = mkdtempSync(join(tmpdir(), 'memory-test-'));
  return {
    path,
    file: (name: string) => join(path, name),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** Creates a folder at the top of a test file, and removes it after the file's last test. */
export function withFolder() {
  const folder = temporaryFolder();
  afterAll(() => folder[Symbol.dispose]());
  return folder;
}
