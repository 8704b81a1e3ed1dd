import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { interceptSql } from './variants/statements.ts';

/*
 * Both sides of a fault in one thread of the service. As a preload module it runs first in each
 * thread, which signs in under its name and from then on does what a file asks it to, once.
 */
export type ThreadFault = {
  /** `exit` ends the thread, `throw` by an exception; `loop` can be interrupted, `block` cannot. */
  what: 'exit' | 'throw' | 'loop' | 'block';
  when: 'idle' | 'before COMMIT' | 'after COMMIT';
};

/** One start of a thread. Times are of `Date.now()`. */
export type Started = { name: string; at: number };

/** In the environment of the server: where threads and harness meet. */
export const folderSetting = 'FAULT_THREADS';

export function startedThreads(folder: string): Started[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.started'));
  return names.map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Started);
}

export function order(folder: string, name: string, fault: ThreadFault): void {
  writeFileSync(`${fileOf(folder, name)}.new`, JSON.stringify(fault));
  renameSync(`${fileOf(folder, name)}.new`, fileOf(folder, name));
}

/** When the order was carried out; null where it was not yet. */
export function obeyedAt(folder: string, name: string): number | null {
  const file = `${fileOf(folder, name)}.obeyed`;
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : null;
}

/** Nothing of the order is left. */
export function withdraw(folder: string, name: string): void {
  for (const end of ['', '.taken', '.obeyed']) rmSync(fileOf(folder, name) + end, { force: true });
}

function fileOf(folder: string, name: string): string {
  return join(folder, `${name}.order`);
}

const everyMs = 10;
const folder = process.env[folderSetting];
if (!Bun.isMainThread && folder !== undefined) signIn(folder);

function signIn(folder: string): void {
  // A thread is named by its `name` option, which Linux shows.
  const name = readFileSync('/proc/thread-self/comm', 'utf8').trim();
  const started: Started = { name, at: Date.now() };
  const file = join(folder, `${process.pid}-${threadId}.started`);
  writeFileSync(file, JSON.stringify(started));
  const obey = (when: ThreadFault['when']) => obeyOrder(folder, name, when);
  setInterval(() => obey('idle'), everyMs).unref();
  const commit = /^COMMIT\b/i;
  const replace = (statement: { run(): unknown }) => ({
    run() {
      obey('before COMMIT');
      const result = statement.run();
      obey('after COMMIT');
      return result;
    },
  });
  interceptSql({ hooks: [{ match: commit, replace }] });
}

function obeyOrder(folder: string, name: string, when: ThreadFault['when']): void {
  const file = fileOf(folder, name);
  if (!existsSync(file)) return;
  const fault = JSON.parse(readFileSync(file, 'utf8')) as ThreadFault;
  if (fault.when !== when) return;
  if (!take(file)) return;
  writeFileSync(`${file}.obeyed`, String(Date.now()));
  if (fault.what === 'throw') throw new Error('a fault in this thread');
  if (fault.what === 'exit') process.exit(1);
  if (fault.what === 'block') Bun.sleepSync(1e8);
  for (;;);
}

/** False where another thread of the same name was first. */
function take(file: string): boolean {
  try {
    renameSync(file, `${file}.taken`);
    return true;
  } catch {
    return false;
  }
}
