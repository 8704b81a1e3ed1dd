import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newDatabase } from '../support/postgres.ts';
import { createRandom } from '../support/random.ts';
import { harnesses } from './all.ts';
import { send } from './api.ts';
import { createScript } from './script.ts';
import { createTarget } from './target.ts';
import { toolCall } from './traffic/bodies.ts';
import { matched, notesSetting, reached, readNotes } from './variants/notes.ts';
import { variants } from './variants/table.ts';

/*
 * `npm run faults` runs the harnesses. These tests only check that the service passes everything
 * that the variants of the harnesses' controls change.
 */

test('every control names variants that exist', () => {
  const named = harnesses.flatMap(({ control }) => control.variants);
  expect(named.filter((name) => variants[name] === undefined)).toEqual([]);
});

test.each([
  ['faults', '--help', 0],
  ['faults', '--quik', 2],
  ['faults', 'P99', 2],
  ['bench', '--help', 0],
  ['bench', '--quik', 2],
])('%s %s prints the usage', async (harness, argument, exitCode) => {
  const command = [process.execPath, join(import.meta.dir, `../${harness}/main.ts`), argument];
  const child = Bun.spawn(command, { stderr: 'pipe' });
  const printed = (await child.stdout.text()) + (await child.stderr.text());
  expect(printed).toContain(
    `\nbun tests/${harness}/main.ts [--quick`.slice(exitCode === 0 ? 1 : 0),
  );
  expect(await child.exited).toBe(exitCode);
});

test('the service passes all SQL and exactly the fault points that variants change', async () => {
  await using database = await newDatabase();
  const notes = [...(await notesOf()), ...(await notesOf(database.url))];
  const changed = Object.values(variants).flatMap(({ points = {} }) => Object.keys(points));
  const passed = notes.filter((line) => line.startsWith(reached('')));
  expect([...new Set(passed)].sort()).toEqual([...new Set(changed.map(reached))].sort());
  const hooks = variants.noted?.hooks ?? [];
  const statements = hooks.map(({ match }) => matched(match));
  expect(statements.filter((line) => !notes.includes(line))).toEqual([]);
});

/** Runs the service under a few writes, reads and a call of an MCP tool. */
async function notesOf(databaseUrl?: string): Promise<Set<string>> {
  const folder = mkdtempSync(join(tmpdir(), 'memory-notes-'));
  const notes = join(folder, 'notes');
  await using target = createTarget({
    variants: ['noted'],
    processEnv: { [notesSetting]: notes },
    env: { MEMORY_RATE_LIMIT: '1000/1' },
    ...(databaseUrl !== undefined && { databaseUrl }),
  });
  try {
    await target.start();
    await createScript(createRandom(1), 12, { reads: true }).play(target);
    const body = toolCall('list_memories', { limit: 1 });
    await send(target, { method: 'POST', path: '/mcp/users/script', body });
    return readNotes(notes);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
