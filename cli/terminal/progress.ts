import { canRedraw, note, type Terminal } from './terminal.ts';

const redrawMs = 100;
const plainLineMs = 5_000;

/**
 * Shows the progress of a long command: one line that is redrawn on a terminal, otherwise a plain
 * line every few seconds. `totalBytes` is undefined for a pipe.
 */
export function startProgress(term: Terminal, totalBytes: number | undefined) {
  const { columns } = term.stderr;
  const isDrawn = canRedraw(term);
  const started = term.now();
  let shownAt = started;
  let drawn = false;

  async function clear(): Promise<void> {
    if (drawn) await term.stderr.write('\r\x1b[K').catch(() => {});
    drawn = false;
  }

  async function show(records: number, bytes: number): Promise<void> {
    const now = term.now();
    if (now - shownAt < (isDrawn ? redrawMs : plainLineMs)) return;
    shownAt = now;
    const line = progressLine(records, bytes, totalBytes, (now - started) / 1000);
    if (!isDrawn) return note(term, line);
    drawn = true;
    await term.stderr.write(`\r\x1b[K${line.slice(0, columns - 1)}`).catch(() => {});
  }

  return { show, clear };
}

export function progressLine(
  records: number,
  bytes: number,
  totalBytes: number | undefined,
  seconds: number,
): string {
  const rate = Math.round(records / seconds);
  const line = `${records.toLocaleString('en')} records  ${rate.toLocaleString('en')}/s`;
  if (!totalBytes || bytes === 0) return line;
  const share = Math.min(1, bytes / totalBytes);
  const bar = '█'.repeat(Math.round(share * 20)).padEnd(20, '░');
  const left = Math.ceil((seconds / share) * (1 - share));
  const time = left < 120 ? `${left} s` : `${Math.ceil(left / 60)} min`;
  return `${bar} ${Math.floor(share * 100)}%  ${line}  ${time} left`;
}
