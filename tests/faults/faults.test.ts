import { expect, test } from 'bun:test';
import { harnesses } from './all.ts';
import { isFound, isImported, isInSql } from './variants/patch.ts';
import { variants } from './variants/table.ts';

const seed = Number(process.env.FAULTS_SEED ?? Math.floor(Math.random() * 2 ** 31));
console.error(`faults: seed ${seed}; FAULTS_SEED=${seed} repeats this run`);

const withinMs = 120_000;

test('every variant finds the lines, statements and imports that it changes', () => {
  const all = Object.values(variants);
  const patches = all.flatMap((variant) => variant.patches ?? []);
  // Of the modules that a variant replaces the service need not import all.
  const swaps = all.flatMap(({ swaps }) => (swaps === undefined ? [] : [swaps]));
  const sql = all.flatMap(({ hooks = [], sql = [] }) => [
    ...hooks.map(({ match }) => match),
    ...sql.map(([from]) => from),
  ]);
  expect(patches.length).toBeGreaterThan(0);
  expect(patches.filter((patch) => !isFound(patch))).toEqual([]);
  expect(sql.filter((pattern) => !isInSql(pattern))).toEqual([]);
  expect(swaps.filter((any) => !any.some(isImported))).toEqual([]);
});

for (const harness of harnesses) {
  test(
    `${harness.id} ${harness.promise}`,
    async () => {
      const finding = await harness.run({ seed, tier: 'quick', variants: [] });
      if (finding.skipped !== undefined) {
        console.error(`NOT PROVED HERE: ${harness.id}: ${finding.skipped}`);
      }
      expect(finding.violations).toEqual([]);
    },
    withinMs,
  );
}
