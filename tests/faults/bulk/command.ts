import { join } from 'node:path';
import { memoryBytes } from '../../support/process.ts';
import type { Target } from '../target.ts';

/** `memory ingest batch` in a child process. */
export type Running = {
  ended: Promise<Ended>;
  running(): boolean;
  kill(): void;
};

export type Ended = {
  /** Null if a signal terminated the process. */
  code: number | null;
  stdout: string;
  stderr: string;
  ms: number;
  /** The peak resident memory. */
  peakBytes: number;
};

export type Order = {
  target: Pick<Target, 'url' | 'key'>;
  folder: string;
  path: string;
  errorsOut: string;
  /** Variants to apply to the command. */
  variants: string[];
};

const main = join(import.meta.dir, '../../../cli/main.ts');
const patched = join(import.meta.dir, '../variants/preload.ts');
const lookEveryMs = 10;

export function startImport({ target, folder, path, errorsOut, variants }: Order): Running {
  const preload = variants.length === 0 ? [] : ['--preload', patched];
  const begun = performance.now();
  const child = Bun.spawn(
    [process.execPath, ...preload, main, 'ingest', 'batch', path, '--errors-out', errorsOut],
    {
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        XDG_CONFIG_HOME: folder,
        MEMORY_BASE_URL: target.url,
        MEMORY_API_KEY: target.key,
        FAULT_VARIANTS: variants.join(),
      },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    },
  );
  let peakBytes = 0;
  // The kernel records the peak, so only growth after the last poll can be missed.
  const look = () => {
    peakBytes = Math.max(peakBytes, memoryBytes(child.pid, 'VmHWM') || 0);
  };
  const watch = setInterval(look, lookEveryMs);
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  const output = Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  const ended = output.then(([stdout, stderr]) => {
    clearInterval(watch);
    process.off('exit', end);
    return { code: child.exitCode, stdout, stderr, ms: performance.now() - begun, peakBytes };
  });
  return { ended, running: () => child.exitCode === null && child.signalCode === null, kill: end };
}
