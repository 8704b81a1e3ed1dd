import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Child, memoryBytes, startChild } from '../../support/process.ts';
import type { Target } from '../target.ts';

/** `memory ingest batch` in a child process. */
export type Import = {
  child: Child;
  /** The bad lines that the run has reported so far. */
  reported(): { line: number; error: string }[];
  /** Resolves with the exit code and the peak resident memory in bytes. */
  ended: Promise<{ code: number | null; peakBytes: number }>;
};

const main = join(import.meta.dir, '../../../cli/main.ts');
const patched = join(import.meta.dir, '../variants/preload.ts');
const lookEveryMs = 10;

/** Imports the file at `path`, which is in a folder of its own, with the variants applied. */
export function startImport(
  { url, key }: Pick<Target, 'url' | 'key'>,
  path: string,
  variants: string[] = [],
): Import {
  const errorsOut = `${path}.bad`;
  // The reported errors must not include those of an earlier run.
  rmSync(errorsOut, { force: true });
  const preload = variants.length === 0 ? [] : ['--preload', patched];
  const command = [...preload, main, 'ingest', 'batch', path, '--errors-out', errorsOut];
  const child = startChild([process.execPath, ...command], {
    HOME: `${path}.home`,
    XDG_CONFIG_HOME: `${path}.home`,
    MEMORY_BASE_URL: url,
    MEMORY_API_KEY: key,
    FAULT_VARIANTS: variants.join(),
  });
  let peakBytes = 0;
  // The kernel records the peak, so only growth after the last poll can be missed.
  const watch = setInterval(() => {
    peakBytes = Math.max(peakBytes, memoryBytes(child.pid, 'VmHWM') || 0);
  }, lookEveryMs);
  const ended = child.exited.then((code) => {
    clearInterval(watch);
    return { code, peakBytes };
  });
  return { child, ended, reported: () => readErrors(errorsOut) };
}

function readErrors(errorsOut: string) {
  if (!existsSync(errorsOut)) return [];
  const whole = readFileSync(errorsOut, 'utf8').split('\n').slice(0, -1);
  return whole.map((text) => JSON.parse(text) as { line: number; error: string });
}
