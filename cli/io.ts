import { commandNames } from './commands.ts';
import { isTerminal, processOutput } from './process-output.ts';
import { visible } from './text.ts';

/*
 * Everything the commands know of the process they run in. Tests pass their own.
 */

export type Output = {
  readonly isTerminal: boolean;
  readonly columns: number;
  readonly color: boolean;
  /** Settles when the data has left the process; rejects with OutputClosed when nobody reads. */
  write(data: string | Uint8Array): Promise<void>;
};

export type Io = {
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
  now(): number;
  /** Aborted by the first Ctrl-C or SIGTERM, with the signal's name as its reason. */
  readonly interrupted: AbortSignal;
};

export function processIo(interrupted: AbortSignal): Io {
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
    now: Date.now,
    interrupted,
  };
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
export function canRedraw({ stderr, env }: Pick<Io, 'stderr' | 'env'>): boolean {
  return stderr.isTerminal && env.TERM !== 'dumb';
}

export function withoutColor(io: Io): Io {
  const plain = (output: Output): Output => ({
    isTerminal: output.isTerminal,
    columns: output.columns,
    color: false,
    write: (data) => output.write(data),
  });
  return { ...io, stdout: plain(io.stdout), stderr: plain(io.stderr) };
}

/** For people: hints, progress, warnings. Nobody reading them is no reason to stop. */
export async function note(io: Io, text: string): Promise<void> {
  await noteStyled(io, visible(text));
}

/** The same for a text that holds our own styles, and is visible() otherwise. */
export async function noteStyled(io: Io, text: string): Promise<void> {
  await io.stderr.write(`${text}\n`).catch(() => {});
}

/** What to run next, written as one would call it here. */
export async function hint(io: Io, text: string): Promise<void> {
  await note(io, asCalled(io, text));
}

/** Started by npm, by npx or as `npm start`, the command is most likely not on the PATH itself. */
export function ownName({ env }: Pick<Io, 'env'>): 'memory' | 'npx memory' {
  return env.npm_command === undefined ? 'memory' : 'npx memory';
}

const command = new RegExp(`(?<!npx )\\bmemory (?=(?:${commandNames.join('|')}|--help)\\b)`, 'g');

/** A text of ours with its commands written as one would call them here. */
export function asCalled(io: Pick<Io, 'env'>, text: string): string {
  return text.replace(command, `${ownName(io)} `);
}
