import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Subprocess } from 'bun';

/** A measured server, or a process that generates load. */
export type Subject = {
  url: string;
  pid: number;
  /** Throws if the process has already exited, because its measurements are then invalid. */
  stop(): Promise<void>;
};

const running = new Set<Subprocess>();
/** The subjects that have not been stopped. */
const started = new Set<Subject>();
const pollMs = 2;
const startWithinMs = 60_000;
/** Matches the server's address, both in a JSON log line and in plain text. */
const address = /http:\/\/[\w.]+:\d+/;

/**
 * Starts a program of this room, such as `subjects/bare`. It reads `spec` from a file, because the
 * spec may exceed the length limit of an argument.
 */
export function startSubject(name: string, folder: string, spec: object): Promise<Subject> {
  const program = join(import.meta.dir, `../${name}.ts`);
  const file = join(folder, `${crypto.randomUUID()}.json`);
  writeFileSync(file, JSON.stringify(spec));
  return launch([process.execPath, program, file], folder);
}

/** Returns the CPU time of a process and its running descendants, in µs. */
export function familyMicros(pid: number): number {
  return childrenOf(pid).reduce((sum, child) => sum + familyMicros(child), ownMicros(pid));
}

function ownMicros(pid: number): number {
  return [...threadMicros(pid).values()].reduce((sum, micros) => sum + micros, 0);
}

function childrenOf(pid: number): number[] {
  const path = `/proc/${pid}/task/${pid}/children`;
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8').trim().split(' ').filter(Boolean).map(Number);
}

/** Starts a program that prints its address. Its output goes to a file, as in production. */
export async function launch(
  command: string[],
  folder: string,
  env: Record<string, string> = {},
): Promise<Subject> {
  const log = join(folder, `${crypto.randomUUID()}.log`);
  const output = Bun.file(log);
  await Bun.write(output, '');
  const child = Bun.spawn(command, {
    env: { ...process.env, ...env },
    stdin: 'ignore',
    stdout: output,
    stderr: output,
  });
  running.add(child);
  void child.exited.then(() => running.delete(child));
  const subject: Subject = {
    url: await addressIn(log, child, command),
    pid: child.pid,
    async stop() {
      started.delete(subject);
      const early = child.signalCode ?? child.exitCode;
      if (early !== null) {
        throw new Error(`${command.join(' ')} exited early (${early}): ${lastLines(log)}`);
      }
      child.kill('SIGTERM');
      await child.exited;
      rmSync(log, { force: true });
    },
  };
  started.add(subject);
  return subject;
}

/** Stops the subjects that a benchmark has left running. */
export async function stopAll(): Promise<void> {
  for (const { stop } of started) await stop();
}

function lastLines(log: string): string {
  return existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(-5).join('\n') : '';
}

async function addressIn(log: string, child: Subprocess, command: string[]): Promise<string> {
  const giveUpAt = performance.now() + startWithinMs;
  for (;;) {
    const text = readFileSync(log, 'utf8');
    const [url] = address.exec(text) ?? [];
    if (url !== undefined) return url;
    if (child.exitCode !== null || performance.now() > giveUpAt) {
      throw new Error(`${command.join(' ')} did not start: ${text}`);
    }
    await Bun.sleep(pollMs);
  }
}

/** Kills all child processes that are still running, for example after an interrupt. */
export function killAll(): void {
  started.clear();
  for (const child of running) child.kill('SIGKILL');
}

/**
 * Returns the CPU time of each thread of a process since its start, in µs, by thread id. The map is
 * empty if the system does not report the times.
 */
export function threadMicros(pid: number): Map<string, number> {
  const folder = `/proc/${pid}/task`;
  const used = new Map<string, number>();
  if (!existsSync(folder)) return used;
  for (const thread of readdirSync(folder)) {
    try {
      const [nanoseconds = ''] = readFileSync(join(folder, thread, 'schedstat'), 'utf8').split(' ');
      used.set(thread, Number(nanoseconds) / 1_000);
    } catch {
      // The thread has exited since the folder was read.
    }
  }
  return used;
}
