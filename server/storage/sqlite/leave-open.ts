import { dlopen } from 'bun:ffi';

/** Until the process has ended; the garbage collector would close it. */
const leftOpen: unknown[] = [];

/**
 * Keeps files open to the end of the process, and ends it without closing them: by SIGKILL. The
 * last one to close a database writes the log into the file and deletes it, which must not be done
 * with what the disk may not have, and Bun closes at its exit what is still open.
 */
export function leaveOpen(...files: unknown[]): void {
  if (leftOpen.length === 0) process.once('exit', endUnclosed);
  leftOpen.push(...files);
}

/** As which a SIGKILL is shown. */
const killed = 137;
/** GNU's and musl's. */
const libraries = ['libc.so.6', 'libc.musl-x86_64.so.1', 'libc.musl-aarch64.so.1'];

function endUnclosed(): void {
  process.kill(process.pid, 'SIGKILL');
  // Still there: the first process of a container, which the system does not let kill itself.
  for (const library of libraries) {
    try {
      dlopen(library, { _exit: { args: ['i32'], returns: 'void' } }).symbols._exit(killed);
    } catch {
      // It is another system's.
    }
  }
  // Nothing is closed by this either, but it looks like a fault of Bun's.
  process.abort();
}
