import { spawn } from 'node:child_process';

/** A process of our own, in a group of its own, so that it ends with all that it started. */
export type Child = {
  pid: number;
  /** The first line on its standard output; rejects where it ends, or waits too long, without. */
  ready: Promise<string>;
  /** Resolves with the exit code, or null where a signal ended it. */
  exited: Promise<number | null>;
  running(): boolean;
  /** What it wrote to standard error, the last of it where it was much. */
  log(): string;
  /** Sends the signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<number | null>;
  /** Sends the signal and goes on. */
  signal(signal: NodeJS.Signals): void;
};

const readyWithinMs = 30_000;
const logCharacters = 1_000_000;

/** Those that still run. They have groups of their own and would outlive us. */
const alive = new Set<(signal: NodeJS.Signals) => void>();
process.on('exit', () => {
  for (const signal of alive) signal('SIGKILL');
});

export function startChild(command: string[], env: Record<string, string> = {}): Child {
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
    // Without a pid it was never started; -undefined must not become a signal to everybody.
    if (!running || child.pid === undefined) return;
    try {
      process.kill(-child.pid, name);
    } catch {
      // It ended between the check and the call.
    }
  }
  return {
    pid: child.pid ?? 0,
    ready: firstLine(child.stdout.setEncoding('utf8'), exited, () => text),
    exited,
    running: () => running,
    log: () => text,
    signal,
    end(name) {
      signal(name);
      return exited;
    },
  };
}

function firstLine(
  stream: NodeJS.ReadableStream,
  exited: Promise<number | null>,
  log: () => string,
): Promise<string> {
  const line = new Promise<string>((resolve, reject) => {
    let text = '';
    const timer = setTimeout(() => reject(new Error('the process said nothing')), readyWithinMs);
    stream.on('data', (chunk) => {
      text += chunk;
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
    });
    stream.on('close', async () => {
      clearTimeout(timer);
      const code = await exited;
      reject(new Error(`the process ended with ${code}: ${log().slice(-2_000)}`));
    });
  });
  // Nobody may be waiting for it when it ends; that is not a fault of its own.
  line.catch(() => {});
  return line;
}
