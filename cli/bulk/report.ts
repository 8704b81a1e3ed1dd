import { openSync } from 'node:fs';
import { dirname } from 'node:path';
import { CliError, exitCodes } from '../client/errors.ts';
import { printFields, printJson, resilientOutput } from '../terminal/output.ts';
import type { Progress } from '../terminal/progress.ts';
import { note, type Terminal } from '../terminal/terminal.ts';
import { toJson } from '../terminal/text.ts';
import type { BadLine } from './records.ts';

export type Counts = Record<string, number>;

/** What a line of the input is called: JSON given as one array has items. */
export type Unit = 'line' | 'item';

export type Report = ReturnType<typeof openReport>;

type ReportOptions = {
  json: true | undefined;
  unit: Unit;
  /** Where bad lines go, one JSON object each. */
  errorsOut: string | undefined;
  progress: Progress;
};

/** Bad lines beyond these are counted, and all of them are in --errors-out. */
export const shownFailures = 20;
const listedFailures = 100;

/** Collects what became of the records, in bounded memory, and tells it at the end. */
export function openReport(term: Terminal, { json, unit, errorsOut, progress }: ReportOptions) {
  const out = resilientOutput(term);
  const failures: Array<Omit<BadLine, 'text'>> = [];
  const file = errorsOut === undefined ? undefined : openErrorsOut(errorsOut);
  let failed = 0;

  async function bad(one: BadLine): Promise<void> {
    failed += 1;
    const { text: _, ...failure } = one;
    if (failures.length < listedFailures) failures.push(failure);
    if (file !== undefined) {
      file.write(`${toJson(one)}\n`);
      await file.flush();
    }
    if (json || failed > shownFailures) return;
    await progress.clear();
    await note(term, `${unit} ${one.line}: ${one.message}`);
  }

  async function close(): Promise<void> {
    await progress.clear();
    await file?.end();
    if (!json && failed > shownFailures) await note(term, moreFailures(failed, errorsOut));
  }

  async function summary(counts: Counts): Promise<void> {
    const whole = { ...counts, failed };
    await (json
      ? printJson(out.term, { ...whole, failures: inOrder(failures) })
      : printFields(out.term, whole));
    if (!json) await reportNothingNew(term, unit, whole);
  }

  function end(exitCode?: number): void {
    out.end(failed > 0 ? exitCodes.failed : exitCode);
  }

  return { bad, close, summary, end, failed: () => failed };
}

/** Begins anew: bad lines of an earlier run must not stand among those of this one. */
function openErrorsOut(path: string) {
  try {
    return Bun.file(openSync(path, 'w')).writer();
  } catch (error) {
    const message = `--errors-out cannot be written: ${whyIncomplete(path, error)}.`;
    throw new CliError({ code: 'file_not_writable', message });
  }
}

function whyIncomplete(path: string, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EISDIR') return `${path} is a folder, not a file`;
  if (code === 'ENOENT') return `there is no folder ${dirname(path)}`;
  if (code === 'EACCES' || code === 'EPERM') return `${path} may not be written`;
  return error instanceof Error ? error.message : String(error);
}

/** As of a run that is repeated; why nothing happened is not to be seen from a figure. */
async function reportNothingNew(
  term: Terminal,
  unit: Unit,
  { accepted, replayed = 0, failed }: Counts,
) {
  if (replayed === 0 || accepted !== 0 || failed !== 0) return;
  const all = replayed === 1 ? `the one ${unit}` : `all ${replayed} ${unit}s`;
  await note(term, `Nothing new: an earlier run has ingested ${all}.`);
  await note(term, 'They are known for three days by their text and place, or by the key given,');
  await note(term, 'even where what they became was changed or deleted since.');
  await note(term, 'To ingest the same once more: --idempotency-key <any new text>');
}

/** Requests run side by side and end in any order. */
function inOrder<One extends { line: number }>(failures: One[]): One[] {
  return failures.toSorted((a, b) => a.line - b.line);
}

function moreFailures(failed: number, errorsOut: string | undefined): string {
  const more = `and ${failed - shownFailures} more`;
  return errorsOut === undefined
    ? `${more}; to see all: --errors-out <file>`
    : `${more} in ${errorsOut}`;
}
