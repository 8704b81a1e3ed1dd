import type { MemoryServiceError } from '../../sdk/index.ts';
import { messageOf } from '../client/service-errors.ts';
import { type Found, type Search, skip } from '../documents/find.ts';
import { CliError, errorCode } from '../errors.ts';
import { note, type Terminal } from '../terminal/terminal.ts';
import { escapeLine } from '../terminal/text.ts';
import { runPipeline } from './pipeline.ts';
import { type Counts, openReport, type Problem, type Report, type Row } from './report.ts';

const maxKinds = 5;

/**
 * Runs `work` for every file and reports the rows and the rejected files. Any other error ends the
 * run. `unit` is the noun for the number of files that were sent before such an error.
 */
export async function forEachFile(
  term: Terminal,
  { json }: { json?: true | undefined },
  search: Search,
  work: (found: Found) => Promise<Row>,
  unit?: string,
): Promise<Report> {
  const { InvalidRequestError, PayloadTooLargeError } = await import('../../sdk/index.ts');
  const { files: jobs, outside, totalBytes } = search;
  const report = openReport(term, { json, style: 'rows', totalBytes });
  for (const externalId of outside) {
    const message = `${externalId} is a link to a target outside its folder; it was not followed.`;
    const skipped = { code: 'link_outside', message };
    if (json) await report.row({ json: { externalId, skipped }, cells: [] });
    else await note(term, escapeLine(message));
  }
  // Any other error, such as a lost connection, would occur for all remaining files as well.
  const aboutTheFile = [CliError, InvalidRequestError, PayloadTooLargeError];
  async function workOn(found: Found) {
    try {
      term.interrupted.throwIfAborted();
      return { done: 1, rows: [await work(found)], problems: [] };
    } catch (error) {
      if (!aboutTheFile.some((one) => error instanceof one)) throw error;
      // An empty file in a folder is skipped; an empty file that the user named is an error.
      const isSkipped = !found.isNamed && errorCode(error) === 'empty';
      if (isSkipped) skip(search, 'without text');
      const problem = problemOf(found, error as CliError | MemoryServiceError);
      return { done: 0, problems: isSkipped ? [] : [problem] };
    }
  }
  await runPipeline<Search['files'][number]>(term, report, { jobs, work: workOn, unit });
  return report;
}

/** Adds the path to errors that do not name the file, such as those of the service. */
function problemOf({ path, externalId }: Found, error: CliError | MemoryServiceError): Problem {
  const isOurs = error instanceof CliError;
  const message = isOurs ? error.message : messageOf(error);
  const named = message.includes(path) ? message : `${path}: ${message}`;
  const hint = isOurs && error.code === 'not_text' && error.hint ? ` ${error.hint}` : '';
  return {
    shown: named + hint,
    json: { externalId: externalId ?? null, error: { code: error.code, message } },
  };
}

export async function summarize(term: Terminal, report: Report, search: Search, counts: Counts) {
  if (report.isQuiet()) return;
  if (search.skipped.size > 0) await note(term, skippedLine(search.skipped));
  await report.summary({ ...counts, linksNotFollowed: search.outside.size });
}

/** For example `Skipped 4 files that are not documents: .png (3), without extension (1).` */
function skippedLine(skipped: Search['skipped']): string {
  const kinds = [...skipped].sort(([, a], [, b]) => b - a);
  const sum = kinds.reduce((before, [, count]) => before + count, 0);
  const shown = kinds.slice(0, maxKinds).map(([kind, count]) => `${kind} (${count})`);
  const more = kinds.length > maxKinds ? ', …' : '';
  const what =
    sum === 1 ? 'one file that is not a document' : `${sum} files that are not documents`;
  const line = `Skipped ${what}: ${shown.join(', ')}${more}. To ingest a text file, pass its name.`;
  return escapeLine(line);
}
