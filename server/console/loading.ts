import { useEffect, useRef, useState } from 'preact/hooks';
import { AuthenticationError } from '../../sdk/index.ts';
import { messageOf } from './format.ts';
import { disconnect } from './session.ts';

/** The result of a read. While another one is running, the previous result stays. */
export type Loaded<T> = {
  value: T | null;
  error: Error | null;
  isLoading: boolean;
  reload(): void;
  /** Reads on from the present result, which `read` receives. */
  more(): void;
};

/** Reads whenever an input changes, and aborts a read whose result is no longer needed. */
export function useLoaded<T>(
  read: (signal: AbortSignal, previous: T | null) => Promise<T>,
  inputs: readonly unknown[],
): Loaded<T> {
  const [reads, setReads] = useState(0);
  const previous = useRef<T | null>(null);
  const [state, setState] = useState<Pick<Loaded<T>, 'value' | 'error' | 'isLoading'>>({
    value: null,
    error: null,
    isLoading: true,
  });
  function readAgain(from: T | null): void {
    previous.current = from;
    setReads((count) => count + 1);
  }
  useEffect(() => {
    const abort = new AbortController();
    setState(({ value }) => ({ value, error: null, isLoading: true }));
    read(abort.signal, previous.current).then(
      (value) => !abort.signal.aborted && setState({ value, error: null, isLoading: false }),
      (reason) => {
        if (abort.signal.aborted) return;
        setState(({ value }) => ({ value, error: errorOf(reason), isLoading: false }));
      },
    );
    previous.current = null;
    return () => abort.abort();
  }, [...inputs, reads]);
  return { ...state, reload: () => readAgain(null), more: () => readAgain(state.value) };
}

/** Calls `read` again and again, while the page is visible. */
export function useEvery(milliseconds: number, read: () => unknown): void {
  const latest = useRef(read);
  latest.current = read;
  useEffect(() => {
    const timer = setInterval(() => document.hidden || latest.current(), milliseconds);
    return () => clearInterval(timer);
  }, [milliseconds]);
}

type Page<T> = { items: T[]; nextCursor: string | null };

/** The pages of a list that have been read so far, as one page. */
export function usePages<T>(
  readPage: (cursor: string | null, signal: AbortSignal) => Promise<Page<T>>,
  inputs: readonly unknown[],
): Loaded<Page<T>> {
  return useLoaded<Page<T>>(async (signal, previous) => {
    const { items, nextCursor } = await readPage(previous?.nextCursor ?? null, signal);
    return { items: [...(previous?.items ?? []), ...items], nextCursor };
  }, inputs);
}

/** A write that a button starts. `run` resolves with whether it succeeded. */
export function useAction(write: () => Promise<unknown>) {
  const [error, setError] = useState<Error | null>(null);
  const [isRunning, setRunning] = useState(false);
  async function run(): Promise<boolean> {
    setRunning(true);
    setError(null);
    try {
      await write();
      return true;
    } catch (reason) {
      setError(errorOf(reason));
      return false;
    } finally {
      setRunning(false);
    }
  }
  return { error, isRunning, run };
}

/** Ends the session if the key is no longer valid. */
function errorOf(reason: unknown): Error {
  if (reason instanceof AuthenticationError) disconnect(messageOf(reason));
  return reason instanceof Error ? reason : new Error(String(reason));
}
