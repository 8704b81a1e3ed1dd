import { expect, test } from 'bun:test';
import { harnesses } from './all.ts';

const seed = Number(process.env.FAULTS_SEED ?? Math.floor(Math.random() * 2 ** 31));
console.error(`faults: seed ${seed}; FAULTS_SEED=${seed} repeats this run`);

const withinMs = 120_000;

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
