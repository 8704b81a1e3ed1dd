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
  /** Null if no variant can remove the protection. */
  control: Control | null;
  run(options: RunOptions): Promise<Finding>;
};

export type Control = {
  /** The protection that the variants remove. */
  without: string;
  /** Names from the table in variants/table.ts. */
  variants: string[];
  /** Set if each variant removes a protection of its own. Each must then fail by itself. */
  separate?: true;
};

export type RunOptions = {
  seed: number;
  /** `quick` is for every test run, `full` for a release. */
  tier: 'quick' | 'full';
  /** Variants to apply; empty for the unchanged service. */
  variants: string[];
};

export type Finding = {
  figures: Record<string, number | string>;
  /** Descriptions of broken promises. Empty if the promise held. */
  violations: string[];
  /** Why the harness could not run on this machine. */
  skipped?: string;
  /** Whether an exception ended the run. The exception is then the only violation. */
  fellOver?: boolean;
};

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
