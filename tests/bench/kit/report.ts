import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Goal, Section, Table } from './benchmark.ts';
import { goalRow } from './goals.ts';

export type Report = {
  machine: [string, string][];
  /** How the figures were measured, in a sentence. */
  how: string;
  sections: { title: string; section: Section }[];
  /** The goals of every run that the report covers. The last entry is the run of `sections`. */
  runs: Goal[][];
};

const begin = '<!-- figures: begin; written by tests/bench/main.ts, edits are overwritten -->';
const end = '<!-- figures: end -->';
const goalHead = ['', 'measure', 'goal', 'figure', 'baseline', ''];

/** Renders the report as Markdown, goals first. */
function markdown({ machine, how, sections, runs }: Report): string {
  const parts = [
    how,
    table(['', ''], machine),
    '## Goals and figures',
    table(goalHead, goalRows(runs)),
    ...sections.flatMap(({ title, section }) => [`## ${title}`, ...sectionParts(section)]),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** Writes the figures and charts into a docs folder. Keeps the text around the figures. */
export function write(report: Report, folder: string): void {
  const charts = report.sections.flatMap(({ section }) => section.charts ?? []);
  mkdirSync(join(folder, 'charts'), { recursive: true });
  for (const { name, svg } of charts) writeFileSync(join(folder, 'charts', `${name}.svg`), svg);
  const path = join(folder, 'performance.md');
  const before = existsSync(path) ? readFileSync(path, 'utf8') : introduction;
  const [head = '', rest = ''] = before.split(begin);
  const tail = rest.split(end)[1] ?? '\n';
  writeFileSync(path, `${head}${begin}\n\n${markdown(report)}\n${end}${tail}`);
}

/** Renders the report for a terminal. */
export function plain({ machine, how, runs }: Report): string {
  const goals = aligned([goalHead, ...goalRows(runs)]);
  return [`\n${how}`, aligned(machine), '\nGoals', goals].join('\n');
}

export function plainSection({ title, section }: Report['sections'][number]): string {
  const tables = section.tables.map(
    ({ title, head, rows }) => `${title}\n${aligned([head, ...rows])}`,
  );
  return [`\n${title}`, ...tables, ...(section.notes ?? [])].join('\n');
}

/** Returns one row per goal of the last run, with the results of that goal in all runs. */
function goalRows(runs: Goal[][]): string[][] {
  const last = runs.at(-1) ?? [];
  return last.map((goal) =>
    goalRow(
      runs.flatMap((goals) =>
        goals.filter(({ id, measure }) => id === goal.id && measure === goal.measure),
      ),
    ),
  );
}

const introduction = `# Performance

Absolute figures depend on the machine, so most goals are ratios between two programs that were
measured alternately in the same run. A figure is the median over the rounds of one run, followed by
the lowest and the highest round in brackets. For several runs, a figure is the range of their
medians, and a goal is met only if every run meets it.

“Baseline” is the last commit of the single-threaded service, measured in the same run.

| command | what it does |
| --- | --- |
| \`npm run bench\` | measures everything and rewrites the figures on this page |
| \`npm run bench -- --quick\` | takes under five minutes with smaller tables; prints results only |
| \`npm run bench -- S1 S6\` | measures these goals; prints results only |
| \`npm run bench -- --history=runs.json\` | reports all runs of a commit that are in the file |

`;

function sectionParts({ tables, charts = [], notes = [] }: Section): string[] {
  return [
    ...charts.map(({ name, alt }) => `![${alt}](charts/${name}.svg)`),
    ...tables.flatMap(({ title, head, rows }: Table) => [`${title}:`, table(head, rows)]),
    ...notes,
  ];
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function aligned(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`)
    .join('\n');
}
