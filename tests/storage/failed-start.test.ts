import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { createThreads } from '../../server/threads/start.ts';
import { temporaryFolder } from '../support/folder.ts';
import { rejectionOf } from '../support/thrown.ts';
import { openFile } from './sqlite.ts';

test('a database whose writer thread cannot start is not opened', async () => {
  using folder = temporaryFolder();
  const preload = [folder.file('ending.ts')];
  writeFileSync(folder.file('ending.ts'), 'process.exit(7);');
  const ended = Promise.withResolvers<string>();
  const threads = createThreads({ preload, onFatal: ended.resolve });
  const opening = openFile(folder.file('memory.db'), { threads });
  expect((await rejectionOf(opening)).message).toContain('the writer thread exited');
  expect(await ended.promise).toBe('the writer thread exited');
});
