import { readFileSync, writeFileSync } from 'node:fs';
import type { Figures, Harness } from './harness.ts';

export type Finding = {
  figures: Figures;
  violations: string[];
  /** Why the harness could not run on this machine. */
  skipped?: string;
  /** Whether an exception ended the run. The exception is then the only violation. */
  fellOver?: boolean;
};

export type Result = {
  harness: Harness;
  seed: number;
  tier: 'quick' | 'full';
  finding: Finding;
  control: Finding | null;
  durationMs: number;
};

/** Whether the run found no violation, and the control, if it ran, found at least one. */
export function holds({ finding, control }: Result): boolean {
  if (finding.violations.length > 0) return false;
  return control === null || control.skipped !== undefined || control.violations.length > 0;
}

/** Replaces the rows of the harnesses that ran. Each harness has a row in the page. */
export function writePage(path: string, results: Result[]): void {
  const git = Bun.spawnSync(['git', 'rev-parse', '--short', 'HEAD'], { cwd: import.meta.dir });
  const revision = git.stdout.toString().trim();
  const lines = readFileSync(path, 'utf8').split('\n');
  for (const result of results) {
    const { id } = result.harness;
    const index = lines.findIndex((line) => line.startsWith(`| ${id} `));
    if (index < 0) throw new Error(`${path} has no row for ${id}`);
    lines[index] = row(result, revision);
  }
  writeFileSync(path, lines.join('\n'));
}

function row(result: Result, revision: string): string {
  const { harness, seed, tier, finding, control, durationMs } = result;
  const verdict =
    finding.skipped === undefined
      ? finding.violations.length === 0
        ? 'held'
        : `**BROKEN**: ${finding.violations[0]}`
      : `**NOT RUN**: ${finding.skipped}`;
  const figures = Object.entries(finding.figures).map(([name, value]) => `${words(name)} ${value}`);
  const at = `${revision}, ${tier}, seed ${seed}, ${Math.round(durationMs / 1_000)} s`;
  const cells = [harness.id, harness.promise, harness.proof];
  const shown = [verdict, ...figures].join(', ');
  return `| ${[...cells, shown, controlCell(harness, control), at].map(cell).join(' | ')} |`;
}

function controlCell({ control: { without } }: Harness, found: Finding | null): string {
  if (found === null) return `without: ${without}; not run`;
  if (found.skipped !== undefined) return `without: ${without}; not run: ${found.skipped}`;
  const bad = found.violations.length;
  const count = bad > 20 ? 'more than 20 violations' : `${bad} violation${bad === 1 ? '' : 's'}`;
  const verdict =
    bad > 0
      ? `failed as expected with ${count} (${found.violations[0]?.slice(0, 80)})`
      : '**DID NOT FAIL**, so the test proves nothing';
  return `without: ${without}; ${verdict}`;
}

function cell(text: string): string {
  const plain = text.replaceAll('|', '\\|').replace(/\s+/g, ' ');
  return plain.length <= 500 ? plain : `${plain.slice(0, 500)}…`;
}

function words(name: string): string {
  const isCamelCase = /^[a-z][A-Za-z0-9]*$/.test(name);
  return isCamelCase ? name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`) : name;
}
