import { fstatSync, statSync, write } from 'node:fs';

/*
 * Writes directly to the file descriptor. Uses process.stdout only for terminals, because loading
 * it takes as long as the rest of a short command.
 */

export type Output = {
  readonly isTerminal: boolean;
  readonly columns: number;
  readonly color: boolean;
  /** Resolves when the data is written; rejects with OutputClosed if the pipe is closed. */
  write(data: string | Uint8Array): Promise<void>;
};

/** Thrown when the reader closes the pipe, as `head` does. This is not a failure. */
export class OutputClosed extends Error {
  override name = 'OutputClosed';
}

type TerminalStream = () => { isTTY?: boolean; columns?: number };

export function processOutput(fd: number, stream: TerminalStream): Output {
  const terminal = isTerminal(fd, stream);
  let last: Promise<void> = Promise.resolve();
  return {
    isTerminal: terminal,
    get columns() {
      return (terminal && stream().columns) || 80;
    },
    color: terminal && !process.env.NO_COLOR && process.env.TERM !== 'dumb',
    write(data) {
      // Writes are serialized, because one write may need several system calls.
      const written = last.then(() =>
        writeAll(fd, typeof data === 'string' ? Buffer.from(data) : data),
      );
      last = written.catch(() => {});
      return written;
    },
  };
}

export function isTerminal(fd: number, stream: TerminalStream): boolean {
  try {
    const file = fstatSync(fd);
    // mutate-ignore boolean: every system with tests has /dev/null
    const isNull = file.rdev === statSync('/dev/null', { throwIfNoEntry: false })?.rdev;
    return file.isCharacterDevice() && !isNull && stream().isTTY === true;
  } catch {
    return false;
  }
}

const fullPipeMs = 10;

async function writeAll(fd: number, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const count = await writeSome(fd, bytes.subarray(done));
    // mutate-ignore negation: affects only when output pauses
    if (count === 0) await Bun.sleep(fullPipeMs);
    done += count;
  }
}

/** Returns the number of bytes written, or 0 if a non-blocking pipe is full. */
function writeSome(fd: number, bytes: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    write(fd, bytes, 0, bytes.length, null, (error, count) => {
      if (!error) resolve(count);
      else if (error.code === 'EAGAIN') resolve(0);
      else reject(error.code === 'EPIPE' ? new OutputClosed() : error);
    });
  });
}
