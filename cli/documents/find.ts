import type { Stats } from 'node:fs';
import { posix } from 'node:path';
import { CliError, usageError } from '../client/errors.ts';
import { mayLackWriter } from '../terminal/input.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { quoted } from '../terminal/text.ts';
import { extensionOf, kindOf } from './kind.ts';
import { statOf, walkFolder } from './walk.ts';

/** A file to ingest; or, with an error, an argument or a folder that gave none. */
export type Found = {
  path: string;
  /** What comes from stdin or a pipe has no name. */
  externalId: string | undefined;
  bytes: number;
  /** Named itself, not found in a folder or by a pattern. */
  isNamed: boolean;
  /** A link that leaves the folder it was found in. */
  isOutside?: true;
  error?: CliError;
};

export type Search = {
  /** With how far into all of them each one reaches, in bytes. */
  files: (Found & { end: number })[];
  totalBytes: number;
  /** How many were passed by, by what they are. */
  skipped: Map<string, number>;
  skip(kind: string): void;
  /** Links that lead out of the folder they were found in; never followed. */
  outside: Pick<Found, 'path' | 'externalId'>[];
};

/** The files that the arguments stand for, each one once: in their order, folders sorted. */
export async function findFiles(term: Terminal, args: string[]): Promise<Search> {
  const files = new Map<string, Found>();
  const skipped = new Map<string, number>();
  const outside = new Map<string, Found>();
  const skip = (kind: string) => void skipped.set(kind, (skipped.get(kind) ?? 0) + 1);
  for (const arg of args) {
    for await (const found of filesOf(term, arg, skip)) {
      const name = found.externalId ?? found.path;
      const known = found.isOutside ? outside : files;
      if (!known.has(name)) known.set(name, found);
    }
  }
  let totalBytes = 0;
  const withEnds = [...files.values()].map((found) => {
    totalBytes += found.bytes;
    return { ...found, end: totalBytes };
  });
  return { files: withEnds, totalBytes, skipped, skip, outside: [...outside.values()] };
}

/** A folder gives the same names as its files do when they are named one by one. */
export function externalIdOf({ platform }: Pick<Terminal, 'platform'>, path: string): string {
  return posix.normalize(withSlashes(platform, path));
}

function withSlashes(platform: string, path: string): string {
  return platform === 'win32' ? path.replaceAll('\\', '/') : path;
}

async function* filesOf(
  term: Terminal,
  arg: string,
  skip: (kind: string) => void,
): AsyncGenerator<Found> {
  if (arg === '') throw usageError('The name of a file is empty.');
  const named = { path: arg, externalId: externalIdOf(term, arg), bytes: 0, isNamed: true };
  if (arg === '-') return yield { ...named, externalId: undefined };
  const found = await statOf(term, arg);
  const pattern = withSlashes(term.platform, arg);
  if (found?.isDirectory()) {
    yield* search(term, { within: pattern, skip, takes: (path) => kindOf(path).isDocument });
  } else if (found === undefined && /[*?[{]/.test(pattern)) {
    const glob = new Bun.Glob(posix.normalize(pattern));
    const isMeant = (path: string) => glob.match(externalIdOf(term, path));
    const takes = (path: string) => !kindOf(path).isNeverText;
    yield* search(term, { ...beginOf(pattern), pattern, skip, takes, isMeant });
  } else {
    // Where there is none, reading it says so.
    const isPipe = found !== undefined && !found.isFile();
    const bytes = found?.size ?? 0;
    yield { ...named, bytes, ...(isPipe && { externalId: undefined }), ...unread(arg, found) };
  }
}

function unread(path: string, found: Stats | undefined): { error?: CliError } {
  if (found === undefined || !mayLackWriter(path, found)) return {};
  const message = `${path} is a pipe, not a file.`;
  const hint = `To read from it: memory ingest document - < ${quoted(path)}`;
  return { error: new CliError({ code: 'not_a_file', message, hint }) };
}

/** The folder before the first sign of a pattern, and how far below it a match can be. */
function beginOf(pattern: string): { within: string; levels: number } {
  const parts = pattern.split('/');
  const fixed = parts.findIndex((part) => /[*?[{]/.test(part));
  const within = parts.slice(0, fixed).join('/');
  const levels = pattern.includes('**') ? Number.POSITIVE_INFINITY : parts.length - fixed;
  return { within: within || (pattern.startsWith('/') ? '/' : '.'), levels };
}

type Walk = {
  within: string;
  levels?: number;
  pattern?: string;
  isMeant?: (path: string) => boolean;
  takes: (path: string) => boolean;
  skip: (kind: string) => void;
};

async function* search(term: Terminal, walk: Walk): AsyncGenerator<Found> {
  const { within, isMeant = () => true, takes, skip, levels = Number.POSITIVE_INFINITY } = walk;
  const about = { isNamed: false, bytes: 0 };
  let count = 0;
  let passed = 0;
  for await (const { path, kind, error } of walkFolder(term, within, levels)) {
    const externalId = externalIdOf(term, path);
    if (error !== undefined) {
      count += 1;
      yield { ...about, path, externalId, error };
    } else if (kind === 'linked folder') {
      skip('linked folders');
    } else if (kind === 'link outside') {
      yield { ...about, path, externalId, isOutside: true };
    } else if (kind === undefined && isMeant(path) && takes(path)) {
      count += 1;
      yield { ...about, path, externalId, bytes: (await statOf(term, path))?.size ?? 0 };
    } else if (isMeant(path)) {
      passed += 1;
      skip(kind === 'pipe' ? 'pipes and devices' : extensionOf(path) || 'without extension');
    }
  }
  if (count > 0) return;
  const error = nothingIn(walk, passed);
  yield { ...about, path: within, externalId: externalIdOf(term, within), error };
}

function nothingIn({ within, pattern }: Walk, passed: number): CliError {
  const others = passed === 0 ? '' : ` (${passed} of kinds that are not read)`;
  const message =
    pattern === undefined
      ? `There is no document in the folder ${within}${others}.`
      : `No document matches ${pattern}${others}.`;
  return new CliError({ code: 'file_not_found', message });
}
