import { openSync } from 'node:fs';
import { dirname } from 'node:path';
import { CliError, errorCode, errorText, exitCodes } from '../errors.ts';
import { printFields, printJson, resilientOutput, rowOf } from '../terminal/output.ts';
import { startProgress } from '../terminal/progress.ts';
import { note, type Terminal } from '../terminal/terminal.ts';
import { escapeLine, toJson } from '../terminal/text.ts';

/** The options of commands that ingest records. */
export type BulkOptions = {
  json?: true | undefined;
  idempotencyKey?: string | undefined;
  /** The file that receives problems with their text, one JSON object per line. */
  errorsOut?: string | undefined;
  wait?: true | undefined;
  timeout: number;
};

export type Counts = Record<string, number>;

/** A row is printed as cells on stdout or a note on stderr; with --json, as JSON on stdout. */
export type Row = { json: object } & ({ cells: string[] } | { note: string });

/** The counts of completed records by outcome (such as `accepted`), their memory ids, and a row. */
export type Done = { counts: Counts; memoryIds?: string[]; row?: Row };

/** A rejected record: the error as a note and as JSON, and the original line for correction. */
export type Problem = { json: object; note: string; text?: string };

/** The result of a job. */
export type Result = { done: Done[]; problems: Problem[] };

export type Report = ReturnType<typeof openReport>;

/** The counts and the exit code of a wait for the memories. */
export type Waited = { counts: Counts; exitCode: number };
export const notWaited: Waited = { counts: {}, exitCode: exitCodes.done };

export type ReportOptions = Partial<BulkOptions> & {
  /** With `rows`, stdout gets a row for each record, and the summary goes to stderr. */
  style: 'rows' | 'summary';
  totalBytes?: number | undefined;
  /** The outcomes that the summary contains, in order, even if no record has them. */
  outcomes: string[];
};

/** The maximum number of problems printed with a summary. The --errors-out file contains all. */
export const maxShown = 20;
const maxListed = 100;
const redrawMs = 100;
const alwaysCounted = ['ingested', 'complete', 'failed'];

/** Reports the results of the records. Keeps only counts, some problems and the ids to wait for. */
export function openReport(term: Terminal, options: ReportOptions) {
  const { json, wait, style, errorsOut, outcomes } = options;
  const out = resilientOutput(term);
  const progress = startProgress(term, options.totalBytes);
  const file = errorsOut === undefined ? undefined : openErrorsOut(errorsOut);
  const counts: Counts = Object.fromEntries(outcomes.map((name) => [name, 0]));
  const memoryIds = new Set<string>();
  const listed: object[] = [];
  let [failed, doneBytes] = [0, 0];
  let rows = '';
  let drawnAt = term.now();

  const done = () => Object.values(counts).reduce((sum, count) => sum + count, 0);

  async function flush(): Promise<void> {
    await progress.clear();
    if (rows !== '') await out.term.stdout.write(rows);
    rows = '';
    drawnAt = term.now();
  }

  async function print(row: Row): Promise<void> {
    if (!json && 'note' in row) {
      await flush();
      return note(term, escapeLine(row.note));
    }
    rows += `${'cells' in row && !json ? rowOf(term, row.cells) : toJson(row.json)}\n`;
    // On a terminal, rows are printed with the next redraw, to keep the progress line steady.
    if (!term.stdout.isTerminal || term.now() - drawnAt >= redrawMs) await flush();
  }

  async function problem({ text, ...row }: Problem): Promise<void> {
    failed += 1;
    file?.write(`${toJson({ ...row.json, text })}\n`);
    await file?.flush();
    if (style === 'summary' && listed.length < maxListed) listed.push(row.json);
    if (style === 'rows' || (!json && failed <= maxShown)) await print(row);
  }

  return {
    counts,
    memoryIds,
    done,
    failed: () => failed,
    /** `bytes` is the number of input bytes that the job covers. */
    async add(result: Result, bytes: number): Promise<void> {
      doneBytes += bytes;
      for (const one of result.done) {
        addCounts(counts, one.counts);
        if (wait) for (const id of one.memoryIds ?? []) memoryIds.add(id);
        if (one.row) await print(one.row);
      }
      for (const one of result.problems) await problem(one);
      await progress.show(done() + failed, doneBytes);
    },
    async close(): Promise<void> {
      await flush();
      await file?.end();
      if (json || style === 'rows' || failed <= maxShown) return;
      const where = errorsOut ? ` in ${errorsOut}` : '; to see all: --errors-out <file>';
      await note(term, `and ${failed - maxShown} more${where}`);
    },
    /** Prints the summary and the remarks, and ends the command. */
    async finish(waited: Waited, remarks: string[]): Promise<void> {
      const all = { ...counts, ...waited.counts, failed };
      // With --json, the rows are the whole report, unless stdout has failed.
      const isQuiet = json && (style === 'summary' || !out.hasFailed());
      if (style === 'summary' && json) await printJson(out.term, { ...all, failures: listed });
      else if (style === 'summary') await printFields(out.term, all);
      for (const remark of isQuiet ? [] : remarks) await note(term, remark);
      if (style === 'rows' && !isQuiet) await note(term, sentenceOf(all));
      out.end(failed > 0 ? exitCodes.failed : waited.exitCode);
    },
  };
}

export function addCounts(sum: Counts, more: Counts): void {
  for (const [name, count] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + count;
}

/** Returns, for example, `2 ingested, 1 still processing, 0 failed.` */
function sentenceOf(counts: Counts): string {
  const parts = Object.entries(counts)
    .filter(([name, count]) => alwaysCounted.includes(name) || count > 0)
    .map(([name, count]) => `${count} ${name.replace(/[A-Z]/g, (c) => ` ${c.toLowerCase()}`)}`);
  return `${parts.join(', ')}.`;
}

/** Truncates the file to remove the errors of an earlier run. */
function openErrorsOut(path: string) {
  try {
    return Bun.file(openSync(path, 'w')).writer();
  } catch (error) {
    const reasons: Record<string, string> = {
      EISDIR: `${path} is a folder, not a file`,
      ENOENT: `the folder ${dirname(path)} does not exist`,
      EACCES: `no permission to write ${path}`,
    };
    const why = reasons[errorCode(error)] ?? errorText(error);
    throw new CliError('file_not_writable', `Cannot write the --errors-out file: ${why}.`);
  }
}
