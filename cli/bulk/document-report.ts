import type { MemoryServiceError } from '../../sdk/index.ts';
import { messageOf } from '../client/service-errors.ts';
import { type Found, type Search, skip } from '../documents/find.ts';
import { CliError } from '../errors.ts';
import { note, type Terminal } from '../terminal/terminal.ts';
import { escapeLine } from '../terminal/text.ts';
import {
  type Counts,
  openReport,
  type Problem,
  type Report,
  type Result,
  type Row,
} from './report.ts';

const maxKinds = 5;

/** The report on files. It begins with every link that was not followed. */
export async function openDocumentReport(
  term: Terminal,
  { json }: { json?: true | undefined },
  { outside, totalBytes }: Search,
): Promise<Report> {
  const report = openReport(term, { json, style: 'rows', totalBytes });
  for (const externalId of outside) {
    const message = `${externalId} is a link that leads out of its folder; it was not followed.`;
    const skipped = { code: 'link_outside', message };
    if (json) await report.row({ json: { externalId, skipped }, cells: [] });
    else await note(term, escapeLine(message));
  }
  return report;
}

/** What becomes of a file: its row, or the reason why it is not taken. Other errors end the run. */
export function orProblem(
  search: Search,
  work: (found: Found) => Promise<Row>,
): (found: Found) => Promise<Result> {
  return async (found) => {
    try {
      return { done: 1, rows: [await work(found)], problems: [] };
    } catch (error) {
      if (!(await isAboutTheFile(error))) throw error;
      if (found.isNamed || codeOf(error) !== 'empty') {
        return { done: 0, problems: [problemOf(found, error)] };
      }
      // A folder may hold empty files for a reason; a file that was named should have text.
      skip(search, 'without text');
      return { done: 0, problems: [] };
    }
  };
}

/** A lost connection or a refused key would fail every other file too. */
async function isAboutTheFile(error: unknown): Promise<boolean> {
  const { InvalidRequestError, PayloadTooLargeError } = await import('../../sdk/index.ts');
  return [CliError, InvalidRequestError, PayloadTooLargeError].some((one) => error instanceof one);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'failed';
}

/** Most of our own errors name the file, those of the service cannot. */
function problemOf({ path, externalId }: Found, error: unknown): Problem {
  const isOurs = error instanceof CliError;
  const message = isOurs ? error.message : messageOf(error as MemoryServiceError);
  const named = message.includes(path) ? message : `${path}: ${message}`;
  const hint = isOurs && error.code === 'not_text' ? error.hint : null;
  const shown = hint === null ? named : `${named} ${hint}`;
  return {
    shown,
    json: { externalId: externalId ?? null, error: { code: codeOf(error), message } },
  };
}

export async function summarize(term: Terminal, report: Report, search: Search, counts: Counts) {
  if (report.isQuiet()) return;
  if (search.skipped.size > 0) await note(term, skippedLine(search.skipped));
  await report.summary({ ...counts, linksNotFollowed: search.outside.size });
}

/** `Skipped 4 that are no documents: .png (3), without extension (1).` */
function skippedLine(skipped: Search['skipped']): string {
  const kinds = [...skipped].sort(([, a], [, b]) => b - a);
  const sum = kinds.reduce((before, [, count]) => before + count, 0);
  const shown = kinds.slice(0, maxKinds).map(([kind, count]) => `${kind} (${count})`);
  const more = kinds.length > maxKinds ? ', …' : '';
  const what =
    sum === 1 ? 'one file that is not a document' : `${sum} files that are not documents`;
  const line = `Skipped ${what}: ${shown.join(', ')}${more}. To ingest one that is text, name it.`;
  return escapeLine(line);
}
