import type { Random } from '../support/random.ts';

/**
 * A harness tests one promise of the service. `run` must find no violation in the unchanged service
 * and at least one in its control, a variant without a protection. A harness that cannot fail
 * proves nothing.
 */
export type Harness = {
  /** The id in the table of promises: P1, P2, … */
  id: string;
  promise: string;
  proof: string;
  control: Control;
  /** Resolves with the figures. Throws `Skipped` if this machine cannot run it. */
  run(run: Run): Promise<Figures>;
};

export type Control = {
  /** The protection that the variants remove. */
  without: string;
  /** Names from the table in variants/table.ts. */
  variants: string[];
  /** Set if each variant removes a protection of its own. Each must then fail by itself. */
  separate?: true;
};

export type Run = {
  /** `quick` is for every test run, `full` for a release. */
  tier: 'quick' | 'full';
  /** Variants to apply; empty for the unchanged service. */
  variants: string[];
  seed: number;
  /** Begins with the seed. */
  random: Random;
  /** Descriptions of broken promises. Empty if the promise held. */
  violations: Violations;
  /** An empty folder, which is removed after the run. */
  folder: string;
};

export type Figures = Record<string, number | string>;

/** Ends a run that is not possible on this machine. The message is the reason. */
export class Skipped extends Error {}

export function skipIf(missing: string | null): void {
  if (missing !== null) throw new Skipped(missing);
}

/** Counts violations and keeps the text of the first few. */
export function createViolations() {
  const kept: string[] = [];
  let total = 0;
  return {
    add(text: string): void {
      total += 1;
      if (kept.length < 20) kept.push(text);
    },
    count: () => total,
    list: () => (total > kept.length ? [...kept, `… and ${total - kept.length} more`] : kept),
  };
}

export type Violations = ReturnType<typeof createViolations>;
