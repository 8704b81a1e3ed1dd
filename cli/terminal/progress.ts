import { note, type Terminal } from './terminal.ts';

const intervalMs = 5_000;

/**
 * Returns a function that prints the progress of a long command, as a line every few seconds.
 * `total` is the final value of `done`, such as the size of a file, or undefined if it is unknown.
 */
export function startProgress(term: Terminal, total: number | undefined, unit = 'records') {
  const started = term.clock();
  let shownAt = started;
  return async (count: number, done: number): Promise<void> => {
    const now = term.clock();
    if (now - shownAt < intervalMs) return;
    shownAt = now;
    const seconds = (now - started) / 1000;
    const rate = Math.round(count / seconds);
    const line = `${count.toLocaleString('en')} ${unit}  ${rate.toLocaleString('en')}/s`;
    if (!total || done === 0) return note(term, line);
    const share = Math.min(1, done / total);
    const left = Math.ceil((seconds / share) * (1 - share));
    const time = left < 120 ? `${left} s` : `${Math.ceil(left / 60)} min`;
    await note(term, `${Math.floor(share * 100)}%  ${line}  ${time} left`);
  };
}
