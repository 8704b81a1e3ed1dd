import { expect, test } from 'bun:test';
import { harnesses } from './all.ts';
import { isFound } from './variants/patch.ts';
import { variants } from './variants/table.ts';

const seed = Number(process.env.FAULTS_SEED ?? Math.floor(Math.random() * 2 ** 31));
console.error(`faults: seed ${seed}; FAULTS_SEED=${seed} repeats this run`);

const withinMs = 120_000;

test('every variant finds the lines that it changes', () => {
  const patches = Object.values(variants).flatMap((variant) => variant.patches ?? []);
  expect(patches.length).toBeGreaterThan(0);
  expect(patches.filter((patch) => !isFound(patch))).toEqual([]);
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
