import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { isTerminal, type Output, processOutput } from './process-output.ts';
import { escapeControls } from './text.ts';

/* The interface between commands and the process. Tests pass their own implementation. */

/** The options that every command accepts, before or after its name. */
export type GlobalOptions = {
  json?: true;
  baseUrl?: string;
  apiKey?: string;
  project?: string;
};

export type Terminal = {
  readonly stdin: {
    readonly isTerminal: boolean;
    stream(): ReadableStream<Uint8Array>;
    /** In raw mode, the terminal echoes nothing and delivers every key immediately. */
    setRaw(raw: boolean): void;
  };
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Record<string, string | undefined>;
  readonly home: string;
  readonly cwd: string;
  readonly platform: string;
  /** The executable and the arguments that start this program. */
  readonly program: readonly string[];
  readonly options: GlobalOptions;
  now(): number;
  /** A monotonic clock, in milliseconds. */
  clock(): number;
  /** Aborted by the first Ctrl-C or SIGTERM, with the signal's name as its reason. */
  readonly interrupted: AbortSignal;
};

export function processTerminal(interrupted: AbortSignal): Terminal {
  return {
    stdin: {
      get isTerminal() {
        return isTerminal(0, () => process.stdin);
      },
      stream: () => Bun.stdin.stream(),
      setRaw: (raw) => void process.stdin.setRawMode(raw),
    },
    stdout: processOutput(1, () => process.stdout),
    stderr: processOutput(2, () => process.stderr),
    env: process.env,
    home: process.env.HOME || process.env.USERPROFILE || '/',
    cwd: process.cwd(),
    platform: process.platform,
    program: ownProgram(),
    options: {},
    now: Date.now,
    clock: () => performance.now(),
    interrupted,
  };
}

export type Platform = Pick<Terminal, 'env' | 'home' | 'platform'>;

export function configFolder({ env, home, platform }: Platform): string {
  if (platform === 'win32') return env.APPDATA || join(home, 'AppData', 'Roaming');
  return env.XDG_CONFIG_HOME || join(home, '.config');
}

/**
 * Replaces the file with a rename, so that other programs never read a partial file. If the path is
 * a symbolic link, replaces the file that the link points to.
 */
export function replaceFile(path: string, text: string, mode = 0o600): void {
  fs.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const file = fs.lstatSync(path, { throwIfNoEntry: false }) ? fs.realpathSync(path) : path;
  const next = `${file}.${crypto.randomUUID()}`;
  try {
    fs.writeFileSync(next, text, { mode: 0o600 });
    fs.chmodSync(next, mode);
    fs.renameSync(next, file);
  } catch (error) {
    fs.rmSync(next, { force: true });
    throw error;
  }
}

/** In a compiled executable, Bun.main is a virtual path. */
function ownProgram(): string[] {
  const isExecutable = /^(?:\/\$bunfs\/|[A-Z]:[\\/]~BUN[\\/])/.test(Bun.main);
  return isExecutable ? [process.execPath] : [process.execPath, ...process.execArgv, Bun.main];
}

/**
 * Writes a hint, warning or progress to stderr, with commands as the user must type them. A closed
 * stderr does not stop the command.
 */
export async function note(term: Terminal, text: string): Promise<void> {
  await noteStyled(term, escapeControls(asCalled(term, text)));
}

/** Like note(), for text that contains our own styles and is already escaped. */
export async function noteStyled(term: Terminal, text: string): Promise<void> {
  await term.stderr.write(`${text}\n`).catch(() => {});
}

type Called = Pick<Terminal, 'env' | 'program'>;

/**
 * If npm or npx started the program, `memory` is probably not on the PATH. Only in a clone, which
 * runs the sources, `npx memory` is this program: the registry's package of that name is another.
 */
export function ownName({ env, program }: Called): string {
  if (env.npm_command === undefined) return 'memory';
  return program.at(-1)?.endsWith('.ts') ? 'npx memory' : 'npx memory-service';
}

/** The names of all commands. Importing the commands themselves would delay each of them. */
export const commandNames = (
  'serve save list search get update delete ingest status wait export import users tasks stats ' +
  'top whoami health keys profile mcp backup restore migrate doctor completion'
).split(' ');

const command = new RegExp(`(?<!npx )\\bmemory (?=(?:${commandNames.join('|')}|--help)\\b)`, 'g');

/** Replaces `memory` before a command with the words that start this program. */
export function asCalled(term: Called, text: string): string {
  return text.replace(command, `${ownName(term)} `);
}
