import { readFileSync, writeFileSync } from 'node:fs';
import type { Section } from './benchmark.ts';
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

/** Renders the goals and the machine as Markdown. */
export function summary({ machine, how, sections }: Report): string {
  const rows = sections.flatMap(({ section }) => section.goals.map(goalRow));
  const parts = [how, table(['', ''], machine), '## Goals and figures', table(goalHead, rows)];
  return parts.join('\n\n');
}

export function sectionText({ title, section }: Report['sections'][number]): string {
  const { tables, notes = [] } = section;
  const shown = tables.flatMap(({ title, head, rows }) => [`${title}:`, table(head, rows)]);
  return [`## ${title}`, ...shown, ...notes].join('\n\n');
}

/** Writes the figures into the page. Keeps the text around them. */
export function write(report: Report, path: string): void {
  const [head = '', rest = ''] = readFileSync(path, 'utf8').split(begin);
  const [, tail = ''] = rest.split(end);
  const parts = [begin, summary(report), ...report.sections.map(sectionText), end];
  writeFileSync(path, head + parts.join('\n\n') + tail);
}

/** Renders a table whose columns are aligned, also in a terminal. */
function table(head: string[], rows: string[][]): string {
  const width = (column: number) =>
    Math.max(3, ...[head, ...rows].map((row) => row[column]?.length ?? 0));
  const line = (cells: string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(width(column))).join(' | ')} |`;
  const rule = head.map((_, column) => '-'.repeat(width(column)));
  return [head, rule, ...rows].map(line).join('\n');
}
