import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { interceptSql } from './variants/statements.ts';

/*
 * Injects faults into threads of the service. The harness requests a fault by writing a file. In
 * the service, this preload module registers each thread under its name and polls for the file.
 */
export type ThreadFault = {
  /** `loop` runs JavaScript, which can be terminated; `block` is a system call, which cannot. */
  what: 'exit' | 'throw' | 'loop' | 'block';
  when: 'idle' | 'before COMMIT' | 'after COMMIT';
};

/** The environment variable that names the folder shared by the threads and the harness. */
export const folderSetting = 'FAULT_THREADS';

/** Returns the names of the threads that have started since the folder was created. */
export function startedThreads(folder: string): string[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.started'));
  return files.map((file) => readFileSync(join(folder, file), 'utf8'));
}

export function requestFault(folder: string, name: string, fault: ThreadFault): void {
  writeFileSync(`${fileOf(folder, name)}.new`, JSON.stringify(fault));
  renameSync(`${fileOf(folder, name)}.new`, fileOf(folder, name));
}

/** Returns the time at which the fault was triggered, or null if it has not been triggered yet. */
export function triggeredAt(folder: string, name: string): number | null {
  const file = `${fileOf(folder, name)}.triggered`;
  // The file may exist before its text is written.
  const at = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
  return at === 0 ? null : at;
}

/** Removes the request for a fault and the files that record its progress. */
export function withdrawFault(folder: string, name: string): void {
  for (const end of ['', '.claimed', '.triggered'])
    rmSync(fileOf(folder, name) + end, { force: true });
}

function fileOf(folder: string, name: string): string {
  return join(folder, `${name}.fault`);
}

const everyMs = 10;
/** A thread may take long to start, so the service notices a hang during the start later. */
const startsWithinMs = 1_000;
const folder = process.env[folderSetting];
if (!Bun.isMainThread && folder !== undefined) register(folder);

function register(folder: string): void {
  // Bun names the Linux thread after the `name` option of its Worker.
  const name = readFileSync('/proc/thread-self/comm', 'utf8').trim();
  const file = join(folder, `${process.pid}-${threadId}.started`);
  // Renaming keeps the harness from reading a partially written file.
  writeFileSync(`${file}.new`, name);
  renameSync(`${file}.new`, file);
  const startedAt = performance.now();
  const check = (when: ThreadFault['when']) => {
    if (performance.now() - startedAt > startsWithinMs) trigger(folder, name, when);
  };
  setInterval(() => check('idle'), everyMs).unref();
  const commit = /^COMMIT\b/i;
  const replace = (statement: { run(): unknown }) => ({
    run() {
      check('before COMMIT');
      const result = statement.run();
      check('after COMMIT');
      return result;
    },
  });
  interceptSql([{ match: commit, replace }]);
}

function trigger(folder: string, name: string, when: ThreadFault['when']): void {
  const file = fileOf(folder, name);
  if (!existsSync(file)) return;
  const fault = JSON.parse(readFileSync(file, 'utf8')) as ThreadFault;
  if (fault.when !== when) return;
  if (!claim(file)) return;
  writeFileSync(`${file}.triggered`, String(Date.now()));
  if (fault.what === 'throw') throw new Error('a fault in this thread');
  if (fault.what === 'exit') process.exit(1);
  if (fault.what === 'block') Bun.sleepSync(1e8);
  for (;;);
}

/** Returns false if another thread with the same name claimed the fault first. */
function claim(file: string): boolean {
  try {
    renameSync(file, `${file}.claimed`);
    return true;
  } catch {
    return false;
  }
}
