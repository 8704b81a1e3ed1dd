import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Goal, Section, Table } from './benchmark.ts';

export type Report = {
  machine: [string, string][];
  /** How it was run, in a sentence. */
  how: string;
  sections: { title: string; section: Section }[];
};

const begin = '<!-- figures: begin. Written by tests/bench/main.ts; what is outside is kept. -->';
const end = '<!-- figures: end -->';

/** The figures as Markdown, with the list of goals first. */
export function markdown({ machine, how, sections }: Report): string {
  const goals = sections.flatMap(({ section }) => section.goals);
  const parts = [
    how,
    table(['', ''], machine),
    '## Goals and figures',
    table(['', 'measure', 'goal', 'figure', ''], goals.map(goalRow)),
    ...sections.flatMap(({ title, section }) => [`## ${title}`, ...sectionParts(section)]),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** Puts figures and charts into a folder of documents; words around them are kept. */
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

/** The same for a terminal. */
export function plain({ sections }: Report): string {
  const goals = sections.flatMap(({ section }) => section.goals);
  const tables = sections.flatMap(({ title, section }) => [
    `\n${title}`,
    ...section.tables.map(({ title, head, rows }) => `${title}\n${aligned([head, ...rows])}`),
    ...(section.notes ?? []),
  ]);
  return [...tables, '\nGoals', aligned(goals.map(goalRow))].join('\n');
}

const introduction = `# Performance

Absolute figures say little about another machine, so every goal is a ratio of two things that were
measured in turn in one run: A B A B, after a warm-up. A figure is the median over the rounds, with
the lowest and the highest in brackets. \`npm run bench\` measures all of it again and writes this
page; \`npm run bench -- --quick\` takes less than a minute, leaves out what needs longer (10⁶ and
more, a single client) and only prints.

`;

function sectionParts({ tables, charts = [], notes = [] }: Section): string[] {
  return [
    ...charts.map(({ name, alt }) => `![${alt}](charts/${name}.svg)`),
    ...tables.flatMap(({ title, head, rows }: Table) => [`${title}:`, table(head, rows)]),
    ...notes,
  ];
}

function goalRow({ id, measure, goal, figure, met }: Goal): string[] {
  return [id, measure, goal, figure, met === null ? '' : met ? 'met' : '**not met**'];
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
