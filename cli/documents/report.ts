import type { MemoryServiceError } from '../../sdk/index.ts';
import { CliError, exitCodes } from '../client/errors.ts';
import { saidOf } from '../client/service-errors.ts';
import { printLine, resilientOutput } from '../terminal/output.ts';
import type { Progress } from '../terminal/progress.ts';
import { note, type Terminal } from '../terminal/terminal.ts';
import { escapeField, escapeLine, toJson } from '../terminal/text.ts';
import type { Found, Search } from './find.ts';

const redrawMs = 100;
const shownKinds = 5;
const alwaysSaid = ['ingested', 'complete', 'failed'];

/** Tells what became of each file, above a line of progress. */
export function openReport(
  term: Terminal,
  json: true | undefined,
  progress: Progress,
  { skipped, outside }: Search,
) {
  const out = resilientOutput(term);
  let failed = 0;
  let told = 0;
  let bytes = 0;
  let rows: string[] = [];
  let drawnAt = term.now();

  async function flush(): Promise<void> {
    await progress.clear();
    if (rows.length > 0) await printLine(out.term, rows.join('\n'));
    rows = [];
    drawnAt = term.now();
  }

  const skip = (kind: string) => void skipped.set(kind, (skipped.get(kind) ?? 0) + 1);

  async function row(line: string): Promise<void> {
    rows.push(line);
    // On a terminal rows wait for the next redraw: the line of progress would flicker otherwise.
    if (!term.stdout.isTerminal || term.now() - drawnAt >= redrawMs) await flush();
  }

  /** What a link leads to may be somebody else's, so each one is named. */
  async function outsideLinks(): Promise<void> {
    for (const { path, externalId } of outside) {
      const message = `${path} is a link that leads out of its folder; it was not followed.`;
      const skipped = { code: 'link_outside', message };
      if (json) await row(toJson({ externalId, skipped }));
      else await note(term, escapeLine(message));
    }
  }

  return {
    outsideLinks,
    async good(found: Found, value: unknown, cells: string[]): Promise<void> {
      told += 1;
      bytes += found.bytes;
      await row(json ? toJson(value) : rowOf(term, cells));
      await progress.show(told, bytes);
    },
    async bad(found: Found, error: unknown): Promise<void> {
      told += 1;
      bytes += found.bytes;
      // A folder may hold such files for good reasons; who names one means it.
      if (!found.isNamed && codeOf(error) === 'empty') return skip('without text');
      failed += 1;
      const { externalId = null } = found;
      const why = { code: codeOf(error), message: messageOf(error) };
      if (json) return row(toJson({ externalId, error: why }));
      await flush();
      await note(term, escapeLine(lineOf(found, error)));
    },
    close: flush,
    async summary(counts: Record<string, number>): Promise<void> {
      if (json && !out.hasFailed()) return;
      if (skipped.size > 0) await note(term, skippedLine(skipped));
      const all = Object.entries({ ...counts, 'links not followed': outside.length, failed });
      const said = all.filter(([name, count]) => alwaysSaid.includes(name) || count > 0);
      await note(term, `${said.map(([name, count]) => `${count} ${name}`).join(', ')}.`);
    },
    failed: () => failed,
    end: (exitCode?: number) => out.end(failed > 0 ? exitCodes.failed : exitCode),
  };
}

/** A lost connection or a refused key would fail every other file too. */
export async function isAboutTheFile(error: unknown): Promise<boolean> {
  const { InvalidRequestError, PayloadTooLargeError } = await import('../../sdk/index.ts');
  return [CliError, InvalidRequestError, PayloadTooLargeError].some((one) => error instanceof one);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'failed';
}

function messageOf(error: unknown): string {
  return error instanceof CliError ? error.message : saidOf(error as MemoryServiceError);
}

/** Most of our own errors name the file, those of the service cannot. */
function lineOf({ path }: Found, error: unknown): string {
  const message = messageOf(error);
  const hint = error instanceof CliError && error.code === 'not_text' ? error.hint : null;
  const told = message.includes(path) ? message : `${path}: ${message}`;
  return hint === null ? told : `${told} ${hint}`;
}

function rowOf(term: Terminal, cells: string[]): string {
  const { isTerminal } = term.stdout;
  return cells.map(isTerminal ? escapeLine : escapeField).join(isTerminal ? '  ' : '\t');
}

/** `Skipped 4 that are no documents: .png (3), without extension (1).` */
function skippedLine(skipped: Search['skipped']): string {
  const kinds = [...skipped].sort(([, a], [, b]) => b - a);
  const sum = kinds.reduce((before, [, count]) => before + count, 0);
  const shown = kinds.slice(0, shownKinds).map(([kind, count]) => `${kind} (${count})`);
  const more = kinds.length > shownKinds ? ', …' : '';
  const what = sum === 1 ? 'one that is no document' : `${sum} that are no documents`;
  return escapeLine(
    `Skipped ${what}: ${shown.join(', ')}${more}. Name one that is text to take it.`,
  );
}
