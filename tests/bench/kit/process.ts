import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Subprocess } from 'bun';
import { benchKey } from './requests.ts';

/** A process that is measured, or that makes load; its first line of output is JSON. */
export type Subject = {
  url: string;
  pid: number;
  /** Resolves when it has ended by itself, with all that it wrote after its first line. */
  finished: Promise<string>;
  stop(): Promise<void>;
};

/** What every service under test is given: the log as it is by default, and no rate limit. */
export const serviceEnv = { MEMORY_RATE_LIMIT: 'off', MEMORY_API_KEY: benchKey };

/** The same without a log. */
export const silentEnv = { ...serviceEnv, LOG_LEVEL: 'silent' };

const subjects = join(import.meta.dir, '../subjects');
const running = new Set<Subprocess>();

/** Starts one of the programs in `subjects`; `spec` is its one argument. */
export function startSubject(
  name: string,
  folder: string,
  spec: object,
  env: Record<string, string> = {},
): Promise<Subject> {
  const command = [process.execPath, join(subjects, `${name}.ts`), JSON.stringify(spec)];
  return start(command, folder, env);
}

/** Starts a program; what it writes to standard error goes to a file, as a log would. */
export async function start(
  command: string[],
  folder: string,
  env: Record<string, string> = {},
): Promise<Subject> {
  const log = join(folder, `${crypto.randomUUID()}.log`);
  const child = Bun.spawn(command, {
    env: { ...process.env, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: Bun.file(log),
  });
  running.add(child);
  void child.exited.then(() => running.delete(child));
  const output = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const first = await readLine(output);
  if (first === null) throw new Error(`${command.join(' ')}: ${await Bun.file(log).text()}`);
  const { url = '' } = JSON.parse(first) as { url?: string };
  return {
    url,
    pid: child.pid,
    finished: readRest(output),
    async stop() {
      child.kill('SIGTERM');
      await child.exited;
      rmSync(log, { force: true });
    },
  };
}

/** Ends what an interrupted run has left. */
export function killAll(): void {
  for (const child of running) child.kill('SIGKILL');
}

type Output = { read(): Promise<{ done: boolean; value?: string | undefined }> };

async function readLine(output: Output): Promise<string | null> {
  let text = '';
  while (!text.includes('\n')) {
    const { done, value = '' } = await output.read();
    if (done) return null;
    text += value;
  }
  return text.slice(0, text.indexOf('\n'));
}

async function readRest(output: Output): Promise<string> {
  let text = '';
  for (;;) {
    const { done, value = '' } = await output.read();
    if (done) return text;
    text += value;
  }
}

/** The resident memory of a process, in bytes; NaN where the system does not say. */
export function residentBytes(pid: number): number {
  const path = `/proc/${pid}/status`;
  if (!existsSync(path)) return Number.NaN;
  const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(path, 'utf8')) ?? [];
  return Number(kilobytes) * 1_024;
}

/** The processor time that all threads of a process have used, in µs; NaN where nobody says. */
export function processorMicros(pid: number): number {
  const folder = `/proc/${pid}/task`;
  if (!existsSync(folder)) return Number.NaN;
  let nanoseconds = 0;
  for (const thread of readdirSync(folder)) {
    const [used = ''] = readFileSync(join(folder, thread, 'schedstat'), 'utf8').split(' ');
    nanoseconds += Number(used);
  }
  return nanoseconds / 1_000;
}
