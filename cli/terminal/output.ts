import { ExitWith, exitCodes } from '../errors.ts';
import { OutputClosed } from './process-output.ts';
import type { Terminal } from './terminal.ts';
import { cut, escapeControls, escapeField, escapeLine, padded, paint, toJson } from './text.ts';

/*
 * Writes to stdout. On a terminal, tables are aligned. In a pipe, each row is a line of
 * tab-separated values, not truncated and without a header. With --json, the output is the API's
 * JSON.
 */

export type Column<Row> = {
  title: string;
  /** The raw value, for a pipe. */
  value(row: Row): string;
  /** Returns the value as shown on a terminal, if different. */
  shown?(value: string, row: Row): string;
  /** The column is hidden on a terminal if every row has this value. */
  usual?: string;
  /** The column takes the remaining width and is cut to it. */
  cut?: true;
  /** The order in which columns are dropped on a narrow terminal; undefined to keep the column. */
  dropped?: number;
};

const gap = '  ';
const narrowest = 10;

/** Prints one JSON value: on one line in a pipe, indented on a terminal. */
export async function printJson(term: Terminal, value: object): Promise<void> {
  await term.stdout.write(`${toJson(value, term.stdout.isTerminal ? 2 : 0)}\n`);
}

/** Prints one JSON value on exactly one line, for commands that print many. */
export async function printJsonLine(term: Terminal, value: object): Promise<void> {
  await term.stdout.write(`${toJson(value)}\n`);
}

export async function printLine(term: Terminal, line: string): Promise<void> {
  await term.stdout.write(`${term.stdout.isTerminal ? escapeControls(line) : line}\n`);
}

/** Returns the cells of one row, separated by two spaces on a terminal, by tabs otherwise. */
export function rowOf({ stdout }: Terminal, cells: string[]): string {
  return stdout.isTerminal ? cells.map(escapeLine).join(gap) : cells.map(escapeField).join('\t');
}

/** Prints the object with --json, otherwise the text, which scripts can use. */
export async function printResult(
  term: Terminal,
  json: true | undefined,
  value: object,
  text: string,
) {
  if (json) await printJson(term, value);
  else await printLine(term, text);
}

/**
 * Returns an output for commands that must complete even if stdout fails: it discards later output,
 * and `end` reports the failure.
 */
export function resilientOutput(term: Terminal) {
  let failure: { error: unknown } | undefined;
  async function write(data: string | Uint8Array): Promise<void> {
    if (failure !== undefined) return;
    await term.stdout.write(data).catch((error) => {
      failure = { error };
    });
  }
  return {
    term: { ...term, stdout: { ...term.stdout, write } },
    hasFailed: () => failure !== undefined,
    /** A closed pipe does not change the exit code of the command. */
    end(exitCode: number = exitCodes.done): void {
      if (failure !== undefined && !(failure.error instanceof OutputClosed)) throw failure.error;
      if (exitCode !== exitCodes.done) throw new ExitWith(exitCode);
    },
  };
}

export async function printTable<Row>(
  term: Terminal,
  columns: Column<Row>[],
  rows: Row[],
): Promise<void> {
  if (rows.length === 0) return;
  const lines = term.stdout.isTerminal
    ? tableLines(term, columns, rows)
    : rows.map((row) => columns.map(({ value }) => escapeField(value(row))).join('\t'));
  await term.stdout.write(`${lines.join('\n')}\n`);
}

/** Prints names and values, one per line. On a terminal, empty values are omitted. */
export async function printFields(term: Terminal, fields: Record<string, string | number | null>) {
  const { stdout } = term;
  const entries = Object.entries(fields).map(([name, value]) => [name, `${value ?? ''}`] as const);
  const shown = entries.filter(([name]) => fields[name] !== null);
  const width = Math.max(...shown.map(([name]) => name.length));
  const nameOf = (name: string) => paint(stdout, 'dim', padded(name, width));
  const lines = stdout.isTerminal
    ? shown.map(([name, value]) => nameOf(name) + gap + escapeControls(value))
    : entries.map(([name, value]) => `${name}\t${escapeField(value)}`);
  await stdout.write(`${lines.join('\n')}\n`);
}

function tableLines<Row>(term: Terminal, all: Column<Row>[], rows: Row[]): string[] {
  const columns = fitting(term, all, rows);
  const widths = columns.map((column) => columnWidth(column, rows));
  const left = Math.max(narrowest, term.stdout.columns - taken(columns, rows));
  const pad = (cell: string, index: number) => padded(cell, widths[index] ?? 0);
  const line = (cells: string[]) => cells.map(pad).join(gap).trimEnd();
  const header = paint(term.stdout, 'bold', line(columns.map(({ title }) => title)));
  const cells = (row: Row) =>
    columns.map((column) => (column.cut ? cut(shown(column, row), left) : shown(column, row)));
  return [header, ...rows.map((row) => line(cells(row)))];
}

function fitting<Row>(term: Terminal, all: Column<Row>[], rows: Row[]): Column<Row>[] {
  let columns = all.filter(({ usual, value }) => !rows.every((row) => value(row) === usual));
  const turn = ({ dropped = 0 }: Column<Row>) => dropped;
  for (const next of columns.filter(turn).sort((a, b) => turn(a) - turn(b))) {
    if (taken(columns, rows) + narrowest <= term.stdout.columns) break;
    columns = columns.filter((column) => column !== next);
  }
  return columns;
}

/** Returns the width of the columns that are not cut, including all gaps. */
function taken<Row>(columns: Column<Row>[], rows: Row[]): number {
  return columns.reduce((sum, column) => sum + columnWidth(column, rows) + gap.length, 0);
}

function columnWidth<Row>(column: Column<Row>, rows: Row[]): number {
  if (column.cut) return 0;
  const texts = [column.title, ...rows.map((row) => shown(column, row))];
  return Math.max(...texts.map((text) => Bun.stringWidth(text)));
}

function shown<Row>(column: Column<Row>, row: Row): string {
  const value = column.value(row);
  const text = column.shown?.(value, row) ?? value;
  return column.cut ? text : escapeControls(text);
}
