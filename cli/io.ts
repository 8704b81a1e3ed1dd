import { isTerminal, processOutput } from './process-output.ts';

/*
 * Everything the commands know of the process they run in. Tests pass their own.
 */

export type Output = {
  readonly isTerminal: boolean;
  readonly columns: number;
  readonly color: boolean;
  /** Settles when the text has left the process; rejects with OutputClosed when nobody reads. */
  write(text: string): Promise<void>;
};

export type Io = {
  readonly stdin: { readonly isTerminal: boolean; stream(): ReadableStream<Uint8Array> };
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Record<string, string | undefined>;
  readonly home: string;
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
    },
    stdout: processOutput(1, () => process.stdout),
    stderr: processOutput(2, () => process.stderr),
    env: process.env,
    home: process.env.HOME ?? process.env.USERPROFILE ?? '.',
    platform: process.platform,
    now: Date.now,
    interrupted,
  };
}

export function withoutColor(io: Io): Io {
  const plain = (output: Output): Output => ({
    isTerminal: output.isTerminal,
    columns: output.columns,
    color: false,
    write: (text) => output.write(text),
  });
  return { ...io, stdout: plain(io.stdout), stderr: plain(io.stderr) };
}

/** For people: hints, progress, warnings. Nobody reading them is no reason to stop. */
export async function note(io: Io, text: string): Promise<void> {
  await io.stderr.write(`${text}\n`).catch(() => {});
}

/** What to run next, written as it was called: in a clone that is `npx memory`. */
export async function hint(io: Io, text: string): Promise<void> {
  await note(io, asCalled(io, text));
}

export function asCalled({ env }: Io, text: string): string {
  if (env.npm_command !== 'exec') return text;
  return text.replace(
    /\bmemory (?=(serve|save|list|search|get|delete|ingest|wait|export|import|keys)\b)/g,
    'npx memory ',
  );
}
