import { openSync } from 'node:fs';
import { resolve } from 'node:path';
import { CliError, errorCode, exitCodes } from '../errors.ts';
import { resilientOutput, rowOf } from '../terminal/output.ts';
import { startProgress } from '../terminal/progress.ts';
import { note, type Terminal } from '../terminal/terminal.ts';
import { escapeLine, toJson } from '../terminal/text.ts';
import type { BulkInput } from './input.ts';
import type { Rejected, Where } from './records.ts';

export type BulkOptions = {
  idempotencyKey?: string | undefined;
  /** The file that receives rejected records with their text, one JSON object per line. */
  errorsOut?: string | undefined;
  wait?: true | undefined;
};

export type IngestOptions = BulkOptions & { timeout: number };

export type Counts = Record<string, number>;

/** What stdout shows for a record. */
export type Row = { cells: string[]; json: object };

/** The counts of completed records by outcome (such as `accepted`), their memory ids and rows. */
export type Done = { counts: Counts; memoryIds?: string[]; rows?: Row[] };

export type Result = Done & { rejected: Rejected[] };

export type Report = ReturnType<typeof openReport>;

/** The maximum number of problems printed. The --errors-out file contains all. */
export const maxShown = 20;

/**
 * Reports the results of the records. Stdout gets a row for each record that has one. Stderr gets
 * the rejected records and a summary. With --json, stdout gets all of this as JSON Lines, with the
 * summary last. Keeps only counts and the ids to wait for.
 */
export function openReport(
  term: Terminal,
  { wait, errorsOut }: BulkOptions,
  outcomes: string[],
  { totalBytes, remarks }: BulkInput,
) {
  const { json } = term.options;
  const out = resilientOutput(term);
  const showProgress = startProgress(term, totalBytes);
  // Truncated by the first results: until then, the run may fail and keeps the earlier errors.
  let file = errorsOut === undefined ? undefined : openErrorsOut(term, errorsOut, 'a');
  const counts: Counts = Object.fromEntries(outcomes.map((name) => [name, 0]));
  const memoryIds = new Set<string>();
  let [failed, doneBytes] = [0, 0];
  let isTruncated = false;

  const done = () => Object.values(counts).reduce((sum, count) => sum + count, 0);

  async function reject({ where, text, error, message }: Rejected): Promise<string> {
    const problem = { ...where, error, message };
    failed += 1;
    try {
      await file?.write(`${toJson({ ...problem, text })}\n`);
      await file?.flush();
    } catch (error) {
      file = undefined;
      throw notWritable(String(errorsOut), error);
    }
    if (json) return `${toJson(problem)}\n`;
    if (failed <= maxShown) await note(term, noteOf(where, message));
    return '';
  }

  return {
    memoryIds,
    done,
    /** `bytes` is the number of input bytes that the results cover. */
    async add(results: Result[], bytes: number): Promise<void> {
      if (errorsOut !== undefined && !isTruncated) file = openErrorsOut(term, errorsOut, 'w');
      isTruncated = true;
      doneBytes += bytes;
      let lines = '';
      for (const { counts: more, memoryIds: ids = [], rows = [] } of results) {
        addCounts(counts, more);
        if (wait) for (const id of ids) memoryIds.add(id);
        for (const row of rows) lines += `${json ? toJson(row.json) : rowOf(term, row.cells)}\n`;
      }
      const rejected = results.flatMap((one) => one.rejected);
      for (const one of rejected.sort(byPosition)) lines += await reject(one);
      if (lines !== '') await out.term.stdout.write(lines);
      await showProgress(done() + failed, doneBytes);
    },
    async close(): Promise<void> {
      await file?.end();
      if (json || failed <= maxShown) return;
      const where = errorsOut ? ` in ${errorsOut}` : '; to see all: --json';
      await note(term, `and ${failed - maxShown} more${where}`);
    },
    /** Prints the summary and the remarks. Ends the command. */
    async finish(waited: Counts = {}, exitCode: number = exitCodes.done) {
      const all = { ...counts, ...waited, failed };
      if (json) await out.term.stdout.write(`${toJson(all)}\n`);
      // The summary must be seen even if stdout has failed.
      if (!json || out.hasFailed()) await note(term, sentenceOf(all, outcomes));
      for (const line of remarks?.() ?? []) await note(term, line);
      out.end(failed > 0 ? exitCodes.failed : exitCode);
    },
  };
}

function byPosition(a: Rejected, b: Rejected): number {
  const positionOf = ({ where }: Rejected) => where.line ?? where.item ?? 0;
  return positionOf(a) - positionOf(b);
}

/** Names the file only once: our own errors already contain its path. */
function noteOf({ line, item, file }: Where, message: string): string {
  if (file !== undefined && message.includes(file)) return escapeLine(message);
  if (file !== undefined && message === 'userId: is required') message += '; pass --user <id>';
  const place = file ?? (line === undefined ? `item ${item}` : `line ${line}`);
  return escapeLine(`${place}: ${message}`);
}

export function addCounts(sum: Counts, more: Counts): void {
  for (const [name, count] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + count;
}

/** Returns, for example, `2 accepted, 1 still processing, 0 failed.` */
function sentenceOf(counts: Counts, [first = '']: string[]): string {
  const parts = Object.entries(counts)
    .filter(([name, count]) => [first, 'complete', 'failed'].includes(name) || count > 0)
    .map(([name, count]) => `${count} ${name.replace(/[A-Z]/g, (c) => ` ${c.toLowerCase()}`)}`);
  return `${parts.join(', ')}.`;
}

function openErrorsOut({ cwd }: Terminal, path: string, flags: 'a' | 'w') {
  try {
    return Bun.file(openSync(resolve(cwd, path), flags)).writer();
  } catch (error) {
    throw notWritable(path, error);
  }
}

function notWritable(path: string, error: unknown): CliError {
  return new CliError('file_not_writable', `Cannot write ${path} (${errorCode(error)}).`);
}
