import type { CallOptions, DocumentRequest, MemoryClient } from '../../sdk/index.ts';
import type { AfterIngest } from '../bulk/ingest-report.ts';
import type { Awaited } from '../bulk/statuses.ts';
import { waitForAll } from '../bulk/wait.ts';
import { acceptedAll, reportInterrupted, whyIncomplete } from '../bulk/waiting.ts';
import { rejectDeletedIngest } from '../client/deleted-replay.ts';
import { exitCodes } from '../client/errors.ts';
import { startProgress } from '../terminal/progress.ts';
import { note, type Terminal } from '../terminal/terminal.ts';
import type { Found, Search } from './find.ts';
import { inOrder } from './in-order.ts';
import { isAboutTheFile, openReport } from './report.ts';
import { patient, type Sent, sendDocument } from './send.ts';

const concurrency = 4;
const shortBytes = 32 * 1024;
const resumeHint = 'Run the same command again to go on: what is done is not done twice.';

/** Ingests one file after the other. One that cannot be taken does not stop the rest. */
export async function ingestMany(
  term: Terminal,
  client: MemoryClient,
  search: Search,
  requestOf: (found: Found) => Promise<DocumentRequest>,
  call: CallOptions,
  { user: userId, json, wait, timeout }: AfterIngest & { user?: string | undefined },
): Promise<void> {
  const send = patient(term);
  /** A few at a time are read and sent, so that no more than those are held. */
  async function attempt(found: Found): Promise<{ found: Found; sent?: Sent; error?: unknown }> {
    try {
      term.interrupted.throwIfAborted();
      const request = await requestOf(found);
      const sent = await send(() => sendDocument(client, request, keyAt(call, found)));
      const { memoryId } = sent.accepted;
      if (call.idempotencyKey !== undefined) {
        await send(() => rejectDeletedIngest(term, client, memoryId));
      }
      return { found, sent };
    } catch (error) {
      return { found, error };
    }
  }
  const { files } = search;
  const totalBytes = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const report = openReport(term, json, startProgress(term, totalBytes), search);
  await report.outsideLinks();
  const awaited: Awaited[] = [];
  // A list of long documents would be longer than asking for the status of each.
  const areShort = totalBytes < files.length * shortBytes;
  const count = { ingested: 0, unchanged: 0 };
  try {
    for await (const { found, sent, error } of inOrder(files, concurrency, attempt)) {
      if (sent !== undefined) {
        const { accepted, unchanged } = sent;
        count[unchanged ? 'unchanged' : 'ingested'] += 1;
        const { memoryId } = accepted;
        if (wait) awaited.push({ memoryId, userId: areShort ? userId : undefined });
        await report.good(found, accepted, [accepted.memoryId, found.externalId ?? found.path]);
      } else if (await isAboutTheFile(error)) await report.bad(found, error);
      else throw error;
    }
  } catch (error) {
    await report.close();
    const done = `${count.ingested + count.unchanged} of ${files.length}`;
    await note(term, `Stopped after ${done} documents. ${resumeHint}`);
    throw error;
  }
  await report.close();
  const ended = { complete: 0, 'still processing': 0, 'not found': 0, 'not asked': 0 };
  let waited: number = exitCodes.done;
  if (wait) {
    const waiting = waitForAll(term, client, awaited, timeout, async (outcome) => {
      const { error, exitCode } = outcome;
      const why = whyIncomplete(outcome);
      if (exitCode === exitCodes.notAsked) ended['not asked'] += 1;
      else if (exitCode === exitCodes.notFound) ended['not found'] += 1;
      else if (exitCode === exitCodes.processing) ended['still processing'] += 1;
      else if (error === null) ended.complete += 1;
      if (why !== null) await note(term, why);
    });
    const told = acceptedAll('document', count.ingested + count.unchanged, report.failed());
    waited = await reportInterrupted(term, waiting, told);
  }
  await report.summary({ ...count, ...(wait && ended) });
  report.end(waited);
}

/** One key cannot stand for several requests; each file has its own, whatever stands beside it. */
function keyAt(call: CallOptions, { externalId, path }: Found): CallOptions {
  if (call.idempotencyKey === undefined) return call;
  const place = new Bun.CryptoHasher('sha256')
    .update(externalId ?? path)
    .digest('hex')
    .slice(0, 16);
  return { ...call, idempotencyKey: `${call.idempotencyKey}:${place}` };
}
