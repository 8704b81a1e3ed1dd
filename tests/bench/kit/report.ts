import { readFileSync, writeFileSync } from 'node:fs';
import type { Section, Table } from './benchmark.ts';
import { goalRow } from './goals.ts';

export type Report = {
  machine: [string, string][];
  /** How the figures were measured, in a sentence. */
  how: string;
  sections: { title: string; section: Section }[];
};

const begin = '<!-- figures: begin; written by tests/bench/main.ts, edits are overwritten -->';
const end = '<!-- figures: end -->';
const goalHead = ['', 'measure', 'goal', 'figure', 'baseline', ''];

/** Renders the report as Markdown, goals first. */
function markdown({ machine, how, sections }: Report): string {
  const parts = [
    how,
    table(['', ''], machine),
    '## Goals and figures',
    table(goalHead, goalRows(sections)),
    ...sections.flatMap(({ title, section }) => [`## ${title}`, ...sectionParts(section)]),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** Writes the figures into the page. Keeps the text around them. */
export function write(report: Report, path: string): void {
  const [head = '', rest = ''] = readFileSync(path, 'utf8').split(begin);
  const [, tail = ''] = rest.split(end);
  writeFileSync(path, `${head}${begin}\n\n${markdown(report)}\n${end}${tail}`);
}

/** Renders the report for a terminal. */
export function plain({ machine, how, sections }: Report): string {
  const goals = aligned([goalHead, ...goalRows(sections)]);
  return [`\n${how}`, aligned(machine), '\nGoals', goals].join('\n');
}

export function plainSection({ title, section }: Report['sections'][number]): string {
  const tables = section.tables.map(
    ({ title, head, rows }) => `${title}\n${aligned([head, ...rows])}`,
  );
  return [`\n${title}`, ...tables, ...(section.notes ?? [])].join('\n');
}

function goalRows(sections: Report['sections']): string[][] {
  return sections.flatMap(({ section }) => section.goals.map(goalRow));
}

function sectionParts({ tables, notes = [] }: Section): string[] {
  return [
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
