import { constants } from 'node:fs';
import { type FileHandle, open, readlink, realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { exactNumber, holdsInexact, inexactNumber } from '../../sdk/contract/numbers.ts';
import { CliError, ExitWith, errorCode, errorText, exitCodes } from '../errors.ts';
import { jsonSyntaxError } from './json.ts';
import { note, type Terminal } from './terminal.ts';
import { escapeControls, quoted } from './text.ts';

/** With `realPath`, reads a file that was found there, if it is still there. */
export async function* readBytes(term: Terminal, path: string, realPath?: string) {
  if (path === '-' && term.stdin.isTerminal) {
    await note(term, 'Reading from the terminal; press Ctrl-D on an empty line to end the input.');
  }
  yield* readPieces(term, path, realPath);
}

async function* readPieces(term: Terminal, path: string, realPath?: string) {
  const unchanged = new TransformStream<Uint8Array, Uint8Array>();
  try {
    await using file = realPath === undefined ? undefined : await openFound(realPath, path);
    const named = file ? Bun.file(file.fd) : Bun.file(resolve(term.cwd, path));
    const source = path === '-' ? term.stdin : named;
    // Without the signal, a read that waits for input would keep the process alive after Ctrl-C.
    yield* source.stream().pipeThrough(unchanged, { signal: term.interrupted });
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT') {
      throw new CliError('file_not_found', `File not found: ${path}.`, 'Use - to read from stdin.');
    }
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    const reason = code === 'EISDIR' ? 'is a folder, not a file' : `cannot be read (${code})`;
    throw new CliError('file_not_readable', `${path} ${reason}.`);
  }
}

/** Another program may have replaced the file, or a folder above it, by a link or a pipe since. */
async function openFound(realPath: string, path: string): Promise<FileHandle> {
  const file = await open(realPath, constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const place = await readlink(`/proc/self/fd/${file.fd}`).catch(() => realpath(realPath));
  if (place === realPath && (await file.stat()).isFile()) return file;
  await file.close();
  throw new CliError('file_replaced', `${path} was replaced after it was found.`);
}

/** Returns a text argument or, for `-`, stdin without the newline that echo adds. */
export async function textArgument(term: Terminal, text: string): Promise<string> {
  return text === '-' ? (await readText(readBytes(term, '-'), '-')).replace(/\r?\n$/, '') : text;
}

async function readText(source: AsyncIterable<Uint8Array>, path: string): Promise<string> {
  return decodeText(Buffer.concat(await Array.fromAsync(source)), path);
}

/** Decodes a whole file as the character set that it declares, or else as UTF-8. */
export function decodeText(bytes: Uint8Array, path: string, declared = 'utf-8'): string {
  for (const charset of [declared, 'utf-8']) {
    try {
      const text = new TextDecoder(charset as Bun.Encoding, { fatal: true }).decode(bytes);
      if (!text.includes('\0')) return text;
    } catch {}
  }
  const file = path === '-' ? '<file>' : quoted(path);
  const hint = `Decompress it, or convert it: iconv -f <charset> -t UTF-8 ${file}`;
  throw new CliError('not_text', `${inputName(path)} is not UTF-8 text.`, hint);
}

export async function parseJson(source: AsyncIterable<Uint8Array>, path: string): Promise<unknown> {
  const text = await readText(source, path);
  let value: unknown;
  try {
    value = JSON.parse(text, exactNumber);
  } catch (error) {
    const why = (await jsonSyntaxError(text, { disallowComments: true })) ?? errorText(error);
    throw new CliError('invalid_json', `${inputName(path)} is not valid JSON: ${why}.`);
  }
  if (!holdsInexact(value)) return value;
  throw new CliError('invalid_request', `${inputName(path)} ${inexactNumber}.`);
}

export function inputName(path: string): string {
  return path === '-' ? 'The input' : path;
}

/** The keys that must be handled in raw mode. */
const keys = { ctrlC: '\x03', end: '\r\n\x04', back: '\b\x7f' };

/** Reads a secret from stdin. On a terminal, the input is not echoed and ends with Enter. */
export async function readSecret(term: Terminal, question: string): Promise<string> {
  if (!term.stdin.isTerminal) return textArgument(term, '-');
  // Set raw mode before the question is written, because a fast paste would otherwise be echoed.
  term.stdin.setRaw(true);
  try {
    await term.stderr.write(question);
    let typed = '';
    for await (const piece of readPieces(term, '-')) {
      for (const key of new TextDecoder().decode(piece)) {
        if (key === keys.ctrlC) throw new CliError('interrupted', 'Interrupted.', undefined, 130);
        if (keys.end.includes(key)) return typed;
        typed = keys.back.includes(key) ? typed.slice(0, -1) : typed + key;
      }
    }
    return typed;
  } finally {
    term.stdin.setRaw(false);
    await note(term, '');
  }
}

/**
 * Asks the user to confirm a change; any answer other than yes ends the command. A script cannot
 * answer, so without a terminal this function throws `unasked`, the error that asks for --yes.
 */
export async function confirm(
  term: Terminal,
  question: string,
  unasked: CliError,
  declined: string,
): Promise<void> {
  if (!term.stdin.isTerminal || !term.stderr.isTerminal) throw unasked;
  await term.stderr.write(`${escapeControls(question)} [y/N] `);
  let answer = '';
  try {
    for await (const piece of readPieces(term, '-')) {
      answer += new TextDecoder().decode(piece);
      if (answer.includes('\n')) break;
    }
  } finally {
    // Only Enter moves the cursor to the next line, not Ctrl-C or Ctrl-D.
    if (!answer.includes('\n')) await note(term, '');
  }
  if (/^\s*y(es)?\s*$/i.test(answer)) return;
  await note(term, declined);
  throw new ExitWith(exitCodes.failed);
}
