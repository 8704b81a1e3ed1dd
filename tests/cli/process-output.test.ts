import { expect, test } from 'bun:test';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { processOutput } from '../../cli/terminal/process-output.ts';
import { temporaryFolder } from '../support/folder.ts';
import { noHome } from '../support/process.ts';
import { until } from '../support/until.ts';
import { program } from './shell.ts';

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

test('the help fills a wide terminal', async () => {
  let screen = '';
  const child = Bun.spawn([...program, 'keys', '--help'], {
    env: { PATH: process.env.PATH, ...noHome },
    terminal: {
      cols: 200,
      rows: 50,
      data: (_, shown) => {
        screen += new TextDecoder().decode(shown);
      },
    },
  });
  expect(await child.exited).toBe(0);
  await until(() => screen.includes('--project'), { what: 'the global options' });
  expect(screen).toContain('API keys in the database. Works whether or not the server is running.');
});
