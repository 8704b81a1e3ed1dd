import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './until.ts';

/** A home directory that does not exist, and a setting without which Bun would create it. */
export const noHome = {
  HOME: join(tmpdir(), `memory-no-home-${crypto.randomUUID()}`),
  BUN_RUNTIME_TRANSPILER_CACHE_PATH: '0',
};

export type Child = ReturnType<typeof startChild>;

const readyWithinMs = 30_000;
const logCharacters = 1_000_000;

/** Running children. They are killed on exit, because process groups outlive this process. */
const alive = new Set<(signal: NodeJS.Signals) => void>();
process.on('exit', () => {
  for (const signal of alive) signal('SIGKILL');
});

/** Starts a process that leads its own process group. Signals go to the whole group. */
export function startChild(command: string[], env: Record<string, string> = {}) {
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    detached: true,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  let running = true;
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    text = (text + chunk).slice(-logCharacters);
  });
  alive.add(signal);
  const exited = new Promise<number | null>((resolve) => {
    child.on('error', () => resolve(null));
    child.on('exit', (code) => resolve(code));
  }).then((code) => {
    running = false;
    alive.delete(signal);
    return code;
  });
  function signal(name: NodeJS.Signals): void {
    // `pid` is undefined if the process could not be started.
    if (!running || child.pid === undefined) return;
    try {
      process.kill(-child.pid, name);
    } catch {
      // The process exited between the check and the call.
    }
  }
  return {
    pid: child.pid ?? 0,
    /** The first line of stdout. Rejects if stdout closes or 30 s pass before the line arrives. */
    ready: firstLine(child.stdout.setEncoding('utf8'), exited, () => text),
    /** Resolves with the exit code, or null if a signal ended the process. */
    exited,
    running: () => running,
    /** The output to stderr, limited to its last million characters. */
    log: () => text,
    signal,
    /** Sends the signal and waits for the process to exit. */
    end(name: NodeJS.Signals) {
      signal(name);
      return exited;
    },
  };
}

/** Runs `serve` of the program on an SQLite file, and waits until it prints `ready`. */
export async function startServing(
  program: string[],
  file: string,
  env: Record<string, string>,
  ready = 'Press Ctrl-C to stop',
) {
  const command = [...program, 'serve', '--port', '0', '--database', `sqlite:${file}`];
  const child = startChild(command, env);
  await until(() => child.log().includes(ready), { what: 'the banner' });
  const [, url = ''] = /running at (\S+)/.exec(child.log()) ?? [];
  return { ...child, url };
}

function firstLine(
  stream: NodeJS.ReadableStream,
  exited: Promise<number | null>,
  log: () => string,
): Promise<string> {
  const line = new Promise<string>((resolve, reject) => {
    let text = '';
    const timer = setTimeout(() => reject(new Error('the process printed nothing')), readyWithinMs);
    stream.on('data', (chunk) => {
      text += chunk;
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
    });
    stream.on('close', async () => {
      clearTimeout(timer);
      const code = await exited;
      reject(new Error(`the process exited with status ${code}: ${log().slice(-2_000)}`));
    });
  });
  // Tests that do not use `ready` must not fail with an unhandled rejection.
  line.catch(() => {});
  return line;
}

/**
 * Returns a port that was free a moment ago. Systems choose port 0 from 32,768 on, so that no
 * server of another test gets this port, and with it the requests of clients that wait for this
 * one.
 */
export function freePort(): number {
  const port = 10_000 + Math.floor(Math.random() * 20_000);
  try {
    Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } }).stop(true);
    return port;
  } catch {
    return freePort();
  }
}

/** Returns memory of a process in bytes, or NaN if the system does not report it. */
export function memoryBytes(pid: number, field: 'VmRSS' | 'VmHWM' | 'RssFile' = 'VmRSS'): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1_024;
  } catch {
    return Number.NaN;
  }
}
