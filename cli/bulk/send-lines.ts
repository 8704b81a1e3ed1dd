import { startProgress } from '../terminal/progress.ts';
import { note, type Terminal } from '../terminal/terminal.ts';
import { type Chunk, type ChunkOptions, chunkLines } from './chunks.ts';
import type { BatchInput } from './input.ts';
import { inParallel } from './parallel.ts';
import type { Entry } from './records.ts';
import { openReport, type Report } from './report.ts';
import { type Answered, type Post, sender } from './send.ts';

export type ReportOptions = { json?: true | undefined; errorsOut?: string | undefined };

export type Sending<Answer extends Answered> = {
  chunks: ChunkOptions;
  /** Chunks that share one of these names go one after the other, in their order. */
  namesIn(chunk: Chunk): Set<string>;
  /** The requests that a chunk becomes, one after the other; one, where this is left out. */
  partsOf?(chunk: Chunk): Chunk[];
  post: Post<Answer>;
  /** Notes an answer; says how many records are done by it. */
  count(answer: Answer, replayed: boolean, entries: Entry[]): number;
};

const concurrency = 4;
const resumeHint = 'Run the same command again to go on: what is done is not done twice.';

/** Sends every line of the input. Bad ones are reported and do not stop the rest. */
export async function sendLines<Answer extends Answered>(
  term: Terminal,
  input: BatchInput,
  { json, errorsOut }: ReportOptions,
  { chunks: options, namesIn, partsOf = (chunk) => [chunk], post, count }: Sending<Answer>,
): Promise<Report> {
  const progress = startProgress(term, input.totalBytes);
  const report = openReport(term, { json, errorsOut, unit: input.unit, progress });
  const chunks = chunkLines(input.lines, options);
  let done = 0;
  try {
    const send = await sender(term, report, partsOf, post, (answer: Answer, replayed, entries) => {
      done += count(answer, replayed, entries);
    });
    await inParallel(chunks, concurrency, namesIn, async (chunk) => {
      await send(chunk);
      await progress.show(done + report.failed(), chunk.end);
    });
  } catch (error) {
    await report.close();
    await note(term, `Stopped after ${done} records. ${resumeHint}`);
    throw error;
  }
  await report.close();
  return report;
}
