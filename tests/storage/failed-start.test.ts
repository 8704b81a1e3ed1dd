import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createThreads } from '../../server/threads/start.ts';
import { rejectionOf } from '../support/thrown.ts';
import { openFile } from './sqlite.ts';

test('a database whose writer thread cannot start is not opened', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'memory-failed-start-'));
  const preload = [join(folder, 'ending.ts')];
  writeFileSync(join(folder, 'ending.ts'), 'process.exit(7);');
  const ended = Promise.withResolvers<string>();
  try {
    const threads = createThreads({ preload, onFatal: ended.resolve });
    const opening = openFile(join(folder, 'memory.db'), { threads });
    expect((await rejectionOf(opening)).message).toContain('the writer thread exited');
    expect(await ended.promise).toBe('the writer thread exited');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
