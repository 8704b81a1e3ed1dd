import { canRedraw, note, type Terminal } from './terminal.ts';

const redrawMs = 100;
const plainLineMs = 5_000;

/**
 * Shows the progress of a long command: one line that is redrawn on a terminal, otherwise a plain
 * line every few seconds. `total` is the final value of `done`, such as the size of a file, or
 * undefined if it is unknown.
 */
export function startProgress(term: Terminal, total: number | undefined, unit = 'records') {
  const { columns } = term.stderr;
  const isDrawn = canRedraw(term);
  const started = term.clock();
  let shownAt = started;
  let drawn = false;

  async function clear(): Promise<void> {
    if (drawn) await term.stderr.write('\r\x1b[K').catch(() => {});
    drawn = false;
  }

  async function show(count: number, done: number): Promise<void> {
    const now = term.clock();
    if (now - shownAt < (isDrawn ? redrawMs : plainLineMs)) return;
    shownAt = now;
    const line = progressLine(count, done, total, (now - started) / 1000, unit);
    if (!isDrawn) return note(term, line);
    drawn = true;
    await term.stderr.write(`\r\x1b[K${line.slice(0, columns - 1)}`).catch(() => {});
  }

  return { show, clear };
}

export function progressLine(
  count: number,
  done: number,
  total: number | undefined,
  seconds: number,
  unit = 'records',
): string {
  const rate = Math.round(count / seconds);
  const line = `${count.toLocaleString('en')} ${unit}  ${rate.toLocaleString('en')}/s`;
  if (!total || done === 0) return line;
  const share = Math.min(1, done / total);
  const bar = '█'.repeat(Math.round(share * 20)).padEnd(20, '░');
  const left = Math.ceil((seconds / share) * (1 - share));
  const time = left < 120 ? `${left} s` : `${Math.ceil(left / 60)} min`;
  return `${bar} ${Math.floor(share * 100)}%  ${line}  ${time} left`;
}
