import type { DocumentRequest } from '../../sdk/index.ts';
import { CliError } from '../errors.ts';
import { decodeText, inputName, readBytes } from '../terminal/input.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { quoted } from '../terminal/text.ts';
import type { Found } from './find.ts';
import { readHtml } from './html.ts';
import { isHtml, isMarkdown, isNeverText, mimeTypeOf } from './kind.ts';

type ReadDocument = Pick<DocumentRequest['data'], 'text' | 'title' | 'mimeType'>;

/** Above the default body limit of the service. A larger file would fill the memory. */
const maxBytes = 32 * 1024 * 1024;
/** A longer title is dropped: the service would reject metadata that is too large. */
const maxTitleLength = 999;

export async function readDocument(
  term: Terminal,
  { path, realPath }: Found,
  givenType: string | undefined,
): Promise<ReadDocument> {
  if (givenType === undefined && isNeverText(path)) throw notText(path);
  const mimeType = givenType ?? (path === '-' ? '' : mimeTypeOf(path));
  const bytes = await readAll(readBytes(term, path, realPath), path);
  const html = isHtml(mimeType);
  const source = decodeDocument(bytes, path, html);
  const { text, title } = html
    ? readHtml(source, mimeType)
    : { text: source, title: isMarkdown(mimeType) ? titleOf(source) : undefined };
  if (text.trim() === '') throw new CliError('empty', `${inputName(path)} contains no text.`);
  return {
    text,
    ...(title && title.length <= maxTitleLength && { title }),
    ...(mimeType && { mimeType }),
  };
}

async function readAll(source: AsyncIterable<Uint8Array>, path: string): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of source) {
    size += piece.byteLength;
    if (size > maxBytes) {
      const message = `${inputName(path)} is over 32 MiB: too large for one document.`;
      throw new CliError('payload_too_large', message, 'Split the document.');
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function notText(path: string): CliError {
  const mimeType = mimeTypeOf(path);
  const hint =
    mimeType === 'application/pdf'
      ? `Convert it to text first: pdftotext ${quoted(path)}`
      : 'Convert it to text, Markdown or HTML first.';
  return new CliError('not_text', `${path} is ${mimeType}, not text.`, hint);
}

/** In Markdown, the title is in the front matter or is the heading at the start of the text. */
function titleOf(text: string): string | undefined {
  const [matter = ''] = /^---[ \t]*\r?\n[\s\S]*?\n---[ \t]*(?:\r?\n|$)/.exec(text) ?? [];
  const [, entry] = /^title:[ \t]+(.+)$/m.exec(matter) ?? [];
  if (entry !== undefined) return scalarOf(entry.trim());
  // mutate-ignore constant: a title that is cut is too long, and dropped
  const head = text.slice(matter.length).trimStart().slice(0, 2_000);
  return /^#[ \t]+(.+?)(?:[ \t]+#+)?[ \t]*(?:\r?\n|$)/.exec(head)?.[1];
}

/** Parses a plain or quoted YAML scalar; other forms are not supported. */
function scalarOf(entry: string): string | undefined {
  return /^[>|&*!{[]/.test(entry) ? undefined : entry.replace(/^(["'])(.*)\1$/, '$2');
}

/** How many bytes are searched for the character set that HTML or XML declares. */
const headBytes = 4096;
const named =
  /<meta[^>]{1,200}?charset\s*=\s*["']?\s*([\w:.-]+)|^<\?xml[^>]{1,200}?encoding\s*=\s*["']([\w.-]+)/i;

const byteOrderMarks = [
  ['efbbbf', 'utf-8'],
  ['fffe', 'utf-16le'],
  ['feff', 'utf-16be'],
] as const;

/**
 * Decodes a file in the encoding of its byte order mark. Without one, a file is UTF-8, unless it is
 * HTML that declares another character set. Throws on invalid bytes.
 */
function decodeDocument(bytes: Uint8Array, path: string, html: boolean): string {
  const head = Buffer.from(bytes.subarray(0, 3)).toString('hex');
  const [, marked] = byteOrderMarks.find(([mark]) => head.startsWith(mark)) ?? [];
  return decodeText(bytes, path, marked ?? (html ? charsetOf(bytes) : undefined));
}

function charsetOf(bytes: Uint8Array): string | undefined {
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, headBytes));
  const [, meta, xml] = named.exec(head) ?? [];
  const charset = meta ?? xml;
  // A declaration of UTF-16 must be wrong, because in UTF-16 it would not be readable as Latin-1.
  return charset !== undefined && /^utf-?16/i.test(charset) ? 'utf-8' : charset;
}
