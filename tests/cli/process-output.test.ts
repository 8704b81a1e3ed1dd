import { expect, test } from 'bun:test';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { processOutput } from '../../cli/terminal/process-output.ts';
import { temporaryFolder } from './command.ts';

test('concurrent writes are written whole and in order', async () => {
  using folder = temporaryFolder();
  const path = folder.file('output');
  const fd = openSync(path, 'w');
  const output = processOutput(fd, () => ({}));
  const pieces = Array.from({ length: 1_000 }, (_, index) => `${index}\n`);
  await Promise.all(pieces.map((piece) => output.write(piece)));
  closeSync(fd);
  expect(readFileSync(path, 'utf8')).toBe(pieces.join(''));
});
