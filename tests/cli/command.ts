import { expect } from 'bun:test';
import { run } from '../../cli/run.ts';
import type { Output } from '../../cli/terminal/process-output.ts';
import type { Terminal } from '../../cli/terminal/terminal.ts';
import { noHome } from '../support/process.ts';
import { type TestServer, withProject } from '../support/server.ts';

export type Ran = { code: number; stdout: string; stderr: string };

export type Surroundings = {
  env?: Record<string, string>;
  stdin?: string | ReadableStream<Uint8Array>;
  /** Makes both outputs terminals of this width. */
  terminal?: number;
  color?: true;
  /** The user's input. Makes stdin a terminal. */
  typed?: string;
  onRaw?: (raw: boolean) => void;
  home?: string;
  /** The command that started the program. */
  program?: string[];
  cwd?: string;
  interrupted?: AbortSignal;
  /** Replaces the monotonic clock with one that advances by this much on every reading. */
  tickMs?: number;
  /** Replaces the wall clock. */
  now?: () => number;
  /** With what each write to stdout fails. */
  unprinted?: Error;
  /** Called with each piece of output to stdout or stderr. */
  onOutput?: (text: string) => void;
};

/** Runs a command line in this process. */
export async function memory(argv: string[], around: Surroundings = {}): Promise<Ran> {
  const ran = nothing();
  ran.code = await run(argv, testTerminal(around, ran));
  return ran;
}

const nothing = (): Ran => ({ code: -1, stdout: '', stderr: '' });

/** Expects an exit code and what stderr contains, or that it is empty if no words are given. */
export function expectRan(
  { code, stderr }: Pick<Ran, 'code' | 'stderr'>,
  expected: number,
  ...words: (string | RegExp)[]
): void {
  const all = words.length === 0 ? '' : stderr;
  expect({ code, stderr }).toEqual({ code: expected, stderr: all });
  for (const word of words) expect(stderr).toMatch(word);
}

/** Returns a `memory` that uses the server through MEMORY_BASE_URL and MEMORY_API_KEY. */
export function memoryAt(server: TestServer) {
  return (argv: string[], around: Surroundings = {}) => {
    const env = { MEMORY_BASE_URL: server.url, MEMORY_API_KEY: server.key, ...around.env };
    return memory(argv, { ...around, env });
  };
}

/** Gives a test file a project of its own, and a `memory` that uses it. */
export async function withMemory() {
  const server = await withProject();
  return { server, memory: memoryAt(server) };
}

/** Runs `memory doctor`. `find` returns what it has found under a name. */
export async function doctor(url: string) {
  const { code, stdout } = await memory(['doctor', '--json', '--database', url]);
  const { items }: { items: Record<string, string>[] } = JSON.parse(stdout);
  return { code, items, find: (name: string) => items.find((one) => one.name === name) };
}

export function testTerminal(around: Surroundings = {}, ran = nothing()): Terminal {
  const { env = {}, terminal, home = noHome.HOME, cwd = process.cwd(), interrupted } = around;
  const stdin = around.stdin ?? around.typed ?? '';
  const output = (name: 'stdout' | 'stderr'): Output => ({
    isTerminal: terminal !== undefined,
    columns: terminal ?? 80,
    color: around.color ?? false,
    async write(data) {
      if (name === 'stdout' && around.unprinted) throw around.unprinted;
      const text = typeof data === 'string' ? data : Buffer.from(data).toString('latin1');
      ran[name] += text;
      around.onOutput?.(text);
    },
  });
  return {
    stdin: {
      isTerminal: around.typed !== undefined,
      setRaw: (raw) => around.onRaw?.(raw),
      stream: () => (typeof stdin === 'string' ? new Blob([stdin]).stream() : stdin),
    },
    stdout: output('stdout'),
    stderr: output('stderr'),
    env,
    home,
    cwd,
    platform: 'linux',
    options: {},
    program: around.program ?? ['/opt/memory'],
    now: around.now ?? Date.now,
    clock: around.tickMs === undefined ? () => performance.now() : ticking(around.tickMs),
    interrupted: interrupted ?? new AbortController().signal,
  };
}

function ticking(ms: number): () => number {
  let at = 0;
  return () => {
    at += ms;
    return at;
  };
}

/** A line for `memory ingest batch`. */
export function event(userId: string, name: string, more: object = {}): string {
  return JSON.stringify({ type: 'event', userId, ...more, data: { name } });
}

export function linesOf(count: number, line: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => line(at)).join('\n');
}

/** As many different lines. */
export const events = (userId: string, count: number) =>
  linesOf(count, (at) => event(userId, `e${at}`));

export function lines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

/** Returns the summary of a bulk command: the first and the last count always, others if not 0. */
export function summaryOf(counts: Record<string, number>): string {
  const all = Object.entries(counts);
  const shown = all.filter(([, count], at) => count > 0 || at === 0 || at === all.length - 1);
  return `${shown.map(([name, count]) => `${count} ${name}`).join(', ')}.\n`;
}
