import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Goal } from './benchmark.ts';

type Run = { commit: string; mode: string; goals: Goal[] };

/**
 * Adds a run to the file and returns the goals of all runs of the same commit and mode, newest
 * last. Repeated runs show how much a figure varies.
 */
export function addToHistory(file: string, run: Run): Goal[][] {
  const before = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Run[]) : [];
  const runs = [...before, run];
  writeFileSync(file, `${JSON.stringify(runs, null, 2)}\n`);
  return runs
    .filter(({ commit, mode }) => commit === run.commit && mode === run.mode)
    .map(({ goals }) => goals);
}
