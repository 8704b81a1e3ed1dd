import { commandNames } from '../command-names.ts';
import { isTerminal, processOutput } from './process-output.ts';
import { escapeControls } from './text.ts';

/*
 * Everything the commands know of the process they run in. Tests pass their own.
 */

export type Output = {
  readonly isTerminal: boolean;
  readonly columns: number;
  readonly color: boolean;
  /** Settles when the data has left the process; OutputClosed if the pipe is closed. */
  write(data: string | Uint8Array): Promise<void>;
};

export type Terminal = {
  readonly stdin: {
    readonly isTerminal: boolean;
    stream(): ReadableStream<Uint8Array>;
    /** Of a terminal: raw, it shows nothing of what is typed, and gives every key as it comes. */
    setRaw(raw: boolean): void;
  };
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Record<string, string | undefined>;
  readonly home: string;
  readonly cwd: string;
  readonly platform: string;
  /** How another process starts this program: its file, and what comes before the command. */
  readonly program: readonly string[];
  now(): number;
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
    home: process.env.HOME || process.env.USERPROFILE || homeOfUser(),
    cwd: process.cwd(),
    platform: process.platform,
    program: ownProgram(),
    now: Date.now,
    interrupted,
  };
}

/** An executable holds its sources under a path that no file system has. */
function ownProgram(): string[] {
  const isExecutable = /^(?:\/\$bunfs\/|[A-Z]:[\\/]~BUN[\\/])/.test(Bun.main);
  return isExecutable ? [process.execPath] : [process.execPath, ...process.execArgv, Bun.main];
}

/** As the system knows it; the root for a user without one, as in a container. Loaded if needed. */
function homeOfUser(): string {
  try {
    return process.getBuiltinModule('node:os').homedir();
  } catch {
    return '/';
  }
}

/** Whether a line can be drawn over. A dumb terminal shows the signs for that as they are. */
export function canRedraw({ stderr, env }: Pick<Terminal, 'stderr' | 'env'>): boolean {
  return stderr.isTerminal && env.TERM !== 'dumb';
}

export function withoutColor(term: Terminal): Terminal {
  const plain = (output: Output): Output => ({
    isTerminal: output.isTerminal,
    columns: output.columns,
    color: false,
    write: (data) => output.write(data),
  });
  return { ...term, stdout: plain(term.stdout), stderr: plain(term.stderr) };
}

/** For people: hints, progress, warnings. Nobody reading them is no reason to stop. */
export async function note(term: Terminal, text: string): Promise<void> {
  await noteStyled(term, escapeControls(text));
}

/** The same for a text that holds our own styles, and is escapeControls() otherwise. */
export async function noteStyled(term: Terminal, text: string): Promise<void> {
  await term.stderr.write(`${text}\n`).catch(() => {});
}

/** What to run next, written as one would call it here. */
export async function hint(term: Terminal, text: string): Promise<void> {
  await note(term, asCalled(term, text));
}

/** Started by npm, by npx or as `npm start`, the command is most likely not on the PATH itself. */
export function ownName({ env }: Pick<Terminal, 'env'>): 'memory' | 'npx memory' {
  return env.npm_command === undefined ? 'memory' : 'npx memory';
}

const command = new RegExp(`(?<!npx )\\bmemory (?=(?:${commandNames.join('|')}|--help)\\b)`, 'g');

/** A text of ours with its commands written as one would call them here. */
export function asCalled(term: Pick<Terminal, 'env'>, text: string): string {
  return text.replace(command, `${ownName(term)} `);
}
