import type { DocumentRequest } from '../../sdk/index.ts';
import { tooLarge, usualBodyBytes } from '../bulk/body-limit.ts';
import { CliError } from '../client/errors.ts';
import { startProgress } from '../terminal/progress.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { Found, Search } from './find.ts';
import { openReport } from './report.ts';

/** Reads every file and checks it as the service would, and sends nothing. */
export async function dryRun(
  term: Terminal,
  search: Search,
  requestOf: (found: Found) => Promise<DocumentRequest>,
  json: true | undefined,
): Promise<void> {
  const { sentence, validateDocument } = await import('../../sdk/contract/validate.ts');
  const { files } = search;
  const totalBytes = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const report = openReport(term, json, startProgress(term, totalBytes), search);
  await report.outsideLinks();
  let valid = 0;
  for (const found of files) {
    term.interrupted.throwIfAborted();
    try {
      const request = await requestOf(found);
      const [problem] = validateDocument(request);
      if (problem !== undefined) {
        const message = `${found.path}: ${sentence(problem)}`;
        throw new CliError({ code: 'invalid_request', message });
      }
      if (Buffer.byteLength(JSON.stringify(request)) > usualBodyBytes) {
        throw new CliError({ code: 'payload_too_large', message: `${found.path} ${tooLarge}` });
      }
      const { mimeType = '', title = '' } = request.data;
      await report.good(found, request, [request.externalId ?? found.path, mimeType, title]);
      valid += 1;
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      await report.bad(found, error);
    }
  }
  await report.close();
  await report.summary({ valid });
  report.end();
}
