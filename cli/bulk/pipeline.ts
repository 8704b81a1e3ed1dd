import { CliError } from '../errors.ts';
import { note, type Terminal } from '../terminal/terminal.ts';
import { openReport, type Report, type ReportOptions, type Result } from './report.ts';

const concurrency = 4;
/** The maximum number of jobs whose results wait for an earlier job, which may be retrying. */
const maxUndelivered = 16;
const resumeHint = 'Run the same command again to continue; completed work is not repeated.';

type Pipeline<Job> = {
  jobs: AsyncIterable<Job> | Iterable<Job>;
  /** Jobs that share a name run one after the other, in input order. */
  namesIn?(job: Job): Set<string>;
  /** Failed records are part of the result. If the promise rejects, the run ends. */
  work(job: Job): Promise<Result>;
  /** What is sent, for the count in error messages; undefined in a dry run. */
  sent: string | undefined;
};

export async function runPipeline<Job extends { bytes: number }>(
  term: Terminal,
  options: ReportOptions,
  { jobs, namesIn = () => new Set(), work, sent }: Pipeline<Job>,
): Promise<Report> {
  const report = openReport(term, options);
  try {
    await inOrder(jobs, namesIn, work, (result, { bytes }) => report.add(result, bytes));
    await report.close();
    return report;
  } catch (error) {
    await report.close();
    // An error in the input would occur again.
    const advice = error instanceof CliError ? '' : ` ${resumeHint}`;
    if (sent) await note(term, `Stopped after ${report.done()} ${sent}.${advice}`);
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
