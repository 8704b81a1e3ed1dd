import { exitCodes, exitWith } from '../errors.ts';
import { isObject } from './json.ts';
import { OutputClosed } from './process-output.ts';
import { note, type Terminal } from './terminal.ts';
import {
  cut,
  escapeControls,
  escapeField,
  escapeLine,
  padded,
  paint,
  shownBytes,
  toJson,
} from './text.ts';

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

/** Prints one JSON value on exactly one line, for commands that print many values. */
export async function printJsonLine(term: Terminal, value: object): Promise<void> {
  await term.stdout.write(`${toJson(value)}\n`);
}

export async function printLine(term: Terminal, line: string): Promise<void> {
  await term.stdout.write(`${escapeControls(line)}\n`);
}

/** Returns the cells of one row, separated by two spaces on a terminal and by tabs otherwise. */
export function rowOf({ stdout }: Terminal, cells: string[]): string {
  return stdout.isTerminal ? cells.map(escapeLine).join(gap) : cells.map(escapeField).join('\t');
}

/**
 * Prints the object with --json, otherwise the text, which scripts can use, and notes. The text is
 * null if a script needs none.
 */
export async function printResult(
  term: Terminal,
  value: object,
  text: string | null,
  ...notes: string[]
): Promise<void> {
  if (term.options.json) return printJson(term, value);
  if (text !== null) await printLine(term, text);
  for (const one of notes) await note(term, one);
}

/**
 * Returns a terminal for commands that must complete even if stdout fails: output after the failure
 * is discarded, and `end` reports the failure.
 */
export function resilientOutput(term: Terminal) {
  let failure: Error | undefined;
  async function write(data: string | Uint8Array): Promise<void> {
    if (failure !== undefined) return;
    await term.stdout.write(data).catch((error) => {
      failure = error;
    });
  }
  return {
    term: { ...term, stdout: { ...term.stdout, write } },
    hasFailed: () => failure !== undefined,
    /** A closed pipe does not change the exit code of the command. */
    end(exitCode: number = exitCodes.done): void {
      if (failure !== undefined && !(failure instanceof OutputClosed)) throw failure;
      exitWith(exitCode);
    },
  };
}

export async function printTable<Row>(term: Terminal, columns: Column<Row>[], rows: Row[]) {
  if (rows.length === 0) return;
  const lines = term.stdout.isTerminal
    ? tableLines(term, columns, rows)
    : rows.map((row) => columns.map(({ value }) => escapeField(value(row))).join('\t'));
  await term.stdout.write(`${lines.join('\n')}\n`);
}

export async function printObject(term: Terminal, value: object): Promise<void> {
  await (term.options.json ? printJson(term, value) : printFields(term, value));
}

/**
 * Prints the name and value of each field on one line, and of each field of an inner object. On a
 * terminal, empty values are omitted, and sizes have a unit.
 */
export async function printFields({ stdout }: Terminal, object: object): Promise<void> {
  const fields = fieldsOf(object).filter(([, value]) => !stdout.isTerminal || value !== null);
  const width = Math.max(...fields.map(([name]) => name.length));
  const lines = fields.map(([name, value]) => {
    if (!stdout.isTerminal) return [name, `${value ?? ''}`].map(escapeField).join('\t');
    const shown = /bytes$/i.test(name) ? shownBytes(Number(value)) : escapeControls(`${value}`);
    return paint(stdout, 'dim', name.padEnd(width)) + gap + shown;
  });
  await stdout.write(`${lines.join('\n')}\n`);
}

function fieldsOf(object: object, prefix = ''): [name: string, value: unknown][] {
  return Object.entries(object).flatMap(([name, value]) =>
    isObject(value) ? fieldsOf(value, `${name}.`) : [[prefix + name, value]],
  );
}

function tableLines<Row>(term: Terminal, all: Column<Row>[], rows: Row[]): string[] {
  let columns = all
    .filter(({ usual, value }) => !rows.every((row) => value(row) === usual))
    .map((column) => shownColumn(column, rows));
  const taken = () => columns.reduce((sum, { width }) => sum + width + gap.length, -gap.length);
  const dropped = columns.filter(({ order }) => order > 0).sort((a, b) => a.order - b.order);
  for (const next of dropped) {
    if (taken() + narrowest <= term.stdout.columns) break;
    columns = columns.filter((column) => column !== next);
  }
  const left = Math.max(narrowest, term.stdout.columns - taken());
  const line = (index: number) => {
    const cells = columns.map(({ cellAt }) => cellAt(index, left));
    return cells.join(gap).trimEnd();
  };
  return [paint(term.stdout, 'bold', line(0)), ...rows.map((_, index) => line(index + 1))];
}

/** Lays out a column; the cell at index 0 is the title. A column that is cut has width 0. */
function shownColumn<Row>(column: Column<Row>, rows: Row[]) {
  const texts = rows.map((row) => {
    const value = column.value(row);
    return column.shown?.(value, row) ?? value;
  });
  const cells = [column.title, ...texts].map((text) => (column.cut ? text : escapeControls(text)));
  const width = column.cut ? 0 : Math.max(...cells.map((cell) => Bun.stringWidth(cell)));
  const cellAt = (index: number, left: number) => {
    const cell = cells[index] ?? '';
    return column.cut ? cut(cell, left) : padded(cell, width);
  };
  return { width, order: column.dropped ?? 0, cellAt };
}
