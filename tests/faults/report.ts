import { Database } from 'bun:sqlite';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
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

/** Writes the page. Keeps the rows of harnesses that did not run, and the text below the table. */
export function writePage(path: string, results: Result[]): void {
  const lines = readFileSync(path, 'utf8').split('\n');
  const rows = new Map(readRows(lines));
  const { revision } = describeMachine();
  for (const result of results) rows.set(result.harness.id, row(result, revision));
  const order = [...rows].sort(([a], [b]) => Number(a.slice(1)) - Number(b.slice(1)));
  const below = lines.slice(lines.findLastIndex((line) => line.startsWith('|')) + 1);
  writeFileSync(path, [...head(), ...order.map(([, text]) => text), ...below].join('\n'));
}

function readRows(lines: string[]): [string, string][] {
  return lines.flatMap((line): [string, string][] => {
    const id = /^\| (P\d+) +\|/.exec(line)?.[1];
    return id === undefined ? [] : [[id, line]];
  });
}

function head(): string[] {
  const { revision, cores, bun, sqlite, system } = describeMachine();
  return [
    '# Reliability tests',
    '',
    '`npm run faults` runs the tests and writes this table. Each test also runs on a control, a',
    'variant of the service with one protection removed, and must fail there. A test that cannot',
    'fail proves nothing. If n random trials have no failure, the failure rate is below about',
    '3/n with 95 % confidence. "Proved at" is the commit of the run.',
    '',
    `The last run was of commit ${revision}, with ${cores} cores, ${system}, Bun ${bun} and SQLite`,
    `${sqlite}.`,
    '',
    '| | promise | proof | figures | control | proved at |',
    '|---|---|---|---|---|---|',
  ];
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

function describeMachine() {
  const db = new Database(':memory:');
  const { v } = db.prepare('SELECT sqlite_version() AS v').get() as { v: string };
  db.close();
  const git = Bun.spawnSync(['git', 'rev-parse', '--short', 'HEAD'], { cwd: import.meta.dir });
  return {
    revision: git.stdout.toString().trim() || 'unknown',
    cores: cpus().length,
    bun: Bun.version,
    sqlite: v,
    system: `${process.platform} ${process.arch}`,
  };
}
