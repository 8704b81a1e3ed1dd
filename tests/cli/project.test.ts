import { expect, test } from 'bun:test';
import { backend } from '../support/backend.ts';
import { memoryAt, withMemory } from './command.ts';

/* What transcripts/project.txt cannot show of memory stats: a service with metrics, a bound key. */

const { server, memory } = await withMemory();

test('the figures of a service with metrics include its files', async () => {
  await server.client.save({ userId: 'ben', content: 'x'.repeat(1_534) });
  const { stdout } = await memory(['stats']);
  expect(stdout).toMatch(/^databaseBytes\t\d+$/m);
  const shown = await memory(['stats'], { terminal: 80 });
  expect(shown.stdout).toMatch(/^bytes +1\.5 KiB$/m);
  // PostgreSQL has its own log.
  expect(/^logBytes +\d/m.test(shown.stdout)).toBe(backend === 'sqlite');
});

test('the figures name the user of a bound key', async () => {
  const key = await server.createKey('default', { userId: 'ada' });
  const { stdout } = await memoryAt({ ...server, key })(['stats']);
  expect(stdout).toContain('user\tada\n');
  expect(stdout).toContain('memories\t0\n');
});
