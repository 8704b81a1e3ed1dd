import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { harnesses } from './all.ts';
import { createScript } from './script.ts';
import { createTarget } from './target.ts';
import { matched, notesSetting, readNotes } from './variants/notes.ts';
import { isFound, isImported } from './variants/patch.ts';
import { variants } from './variants/table.ts';

/*
 * `npm run faults` runs the harnesses. These tests only check that the variants of the harnesses'
 * controls still match the service's code.
 */

test('every patch matches the lines that it changes', () => {
  const patches = Object.values(variants).flatMap((variant) => variant.patches ?? []);
  expect(patches.length).toBeGreaterThan(0);
  expect(patches.filter((patch) => !isFound(patch))).toEqual([]);
});

test('every replaced module is imported by the service', () => {
  const swaps = Object.values(variants).flatMap(({ swaps }) =>
    swaps === undefined ? [] : [swaps],
  );
  expect(swaps.filter((swap) => !swap.some(isImported))).toEqual([]);
});

test('every control names variants that exist', () => {
  const named = harnesses.flatMap(({ control }) => control?.variants ?? []);
  expect(named.filter((name) => variants[name] === undefined)).toEqual([]);
});

for (const [name, { hooks = [], sql = [] }] of Object.entries(variants)) {
  const patterns = [...hooks.map(({ match }) => match), ...sql.map(([from]) => from)];
  if (patterns.length === 0) continue;
  test(`the service runs the SQL that the variant ${name} changes`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'memory-notes-'));
    const notes = join(folder, 'notes');
    const target = createTarget({ variants: [name], processEnv: { [notesSetting]: notes } });
    try {
      await target.start();
      await createScript(1, 12, { reads: true }).play(target);
      const noted = readNotes(notes);
      expect(patterns.filter((pattern) => !noted.has(matched(pattern)))).toEqual([]);
    } finally {
      await target.remove();
      rmSync(folder, { recursive: true });
    }
  });
}
