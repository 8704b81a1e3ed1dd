import { CliError } from '../errors.ts';
import { note, type Terminal } from '../terminal/terminal.ts';
import type { BulkInput } from './input.ts';
import { namesOf } from './records.ts';
import { type BulkOptions, openReport, type Report } from './report.ts';
import { chunksOf, type Post, partsOf, partsSender } from './requests.ts';

const concurrency = 4;
/** The maximum number of jobs whose results wait for an earlier job, which may be retrying. */
const maxUndelivered = 16;
const resumeHint = 'Run the same command again to continue; completed work is not repeated.';

type Bulk = BulkInput & {
  /** The outcomes that the summary contains, even if no record has them. The first is usual. */
  outcomes: string[];
  post: Post;
};

/** Sends all entries in requests of many, and reports the results in order. */
export async function runBulk(
  term: Terminal,
  options: BulkOptions,
  { outcomes, post, ...input }: Bulk,
): Promise<Report> {
  const send = await partsSender(term, post);
  const report = openReport(term, options, outcomes, input);
  const { type } = input;
  const { idempotencyKey } = options;
  try {
    await inOrder(
      chunksOf(input.entries),
      (chunk) => new Set(chunk.entries.flatMap(namesOf)),
      (chunk) => send(partsOf(chunk, { type, idempotencyKey })),
      (results, { rejected, bytes }) => report.add([...results, { counts: {}, rejected }], bytes),
    );
    await report.add([], 0);
    await report.close();
    return report;
  } catch (error) {
    await report.close();
    // An error in the input would occur again, and so would a refusal of the first request.
    const { status = 500 } = error as { status?: number };
    const isRefused = report.done() === 0 && [401, 403, 404].includes(status);
    if (!(error instanceof CliError || isRefused)) {
      await note(term, `Stopped after ${report.done()} records. ${resumeHint}`);
    }
    throw error;
  }
}

/**
 * Runs jobs concurrently and delivers their results in order. After the first error, no further job
 * starts. Running jobs finish, but the results of jobs after the failed job are not delivered.
 */
export async function inOrder<Job, Result>(
  jobs: AsyncIterable<Job> | Iterable<Job>,
  namesIn: (job: Job) => Set<string>,
  work: (job: Job) => Promise<Result>,
  deliver: (result: Result, job: Job) => Promise<void>,
): Promise<void> {
  const running = new Map<Promise<unknown>, Set<string>>();
  let delivered = Promise.resolve();
  let undelivered = 0;
  const failures: unknown[] = [];
  const fail = (error: unknown) => void failures.push(error);
  function start(job: Job, names: Set<string>): void {
    const result = work(job);
    undelivered += 1;
    const ended = result.catch(fail).finally(() => running.delete(ended));
    running.set(ended, names);
    delivered = Promise.all([result, delivered])
      .then(([one]) => deliver(one, job))
      .finally(() => {
        undelivered -= 1;
      });
    delivered.catch(fail);
  }
  const mustWait = (names: Set<string>) =>
    running.size >= concurrency ||
    undelivered >= maxUndelivered ||
    [...running.values()].some((others) => !others.isDisjointFrom(names));
  try {
    for await (const job of jobs) {
      const names = namesIn(job);
      while (failures.length === 0 && mustWait(names)) {
        await Promise.race([...running.keys(), delivered.catch(fail)]);
      }
      if (failures.length > 0) break;
      start(job, names);
    }
  } finally {
    await Promise.all(running.keys());
    await delivered.catch(fail);
  }
  if (failures.length > 0) throw failures[0];
}
