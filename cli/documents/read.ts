import type { DocumentRequest } from '../../sdk/index.ts';
import { CliError } from '../errors.ts';
import { inputName, readBytes } from '../terminal/input.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { quoted } from '../terminal/text.ts';
import { decodeDocument } from './decode.ts';
import { isHtml, isMarkdown, kindOf } from './kind.ts';
import { asHtml, isXml } from './xhtml.ts';

type ReadDocument = Pick<DocumentRequest['data'], 'text' | 'title' | 'mimeType'>;

/** Far over any body limit. What is longer, a device without an end too, is never held. */
const maxBytes = 32 * 1024 * 1024;
const tooLongForTitle = 1_000;

/** The text of one file, with its type and the title it gives itself. */
export async function readDocument(
  term: Terminal,
  path: string,
  givenType: string | undefined,
): Promise<ReadDocument> {
  const mimeType = givenType ?? (path === '-' ? undefined : typeOf(path));
  const bytes = await readWhole(term, path);
  const html = mimeType !== undefined && isHtml(mimeType);
  const source = decodeDocument(bytes, path, html);
  const { text, title } = html
    ? (await import('./html.ts')).readHtml(isXml(mimeType, source) ? asHtml(source) : source)
    : { text: source, title: markdownTitle(source, mimeType) };
  if (text.trim() === '') throw empty(path, source);
  return {
    text,
    ...(title !== undefined && { title }),
    ...(mimeType !== undefined && { mimeType }),
  };
}

function typeOf(path: string): string {
  const { mimeType, isNeverText } = kindOf(path);
  if (!isNeverText) return mimeType;
  const pdf = mimeType === 'application/pdf';
  throw new CliError(
    'not_text',
    `${path} is ${mimeType}, not text.`,
    pdf
      ? `Turn it into text first: pdftotext ${quoted(path)}`
      : 'Turn it into text, Markdown or HTML first.',
  );
}

async function readWhole(term: Terminal, path: string): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of readBytes(term, path)) {
    size += piece.length;
    if (size > maxBytes) throw tooLarge(path);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** Of the front matter, or else the heading that the text begins with. */
function markdownTitle(text: string, mimeType: string | undefined): string | undefined {
  if (mimeType === undefined || !isMarkdown(mimeType)) return undefined;
  const [matter = ''] = /^---[ \t]*\r?\n[\s\S]*?\n---[ \t]*(?:\r?\n|$)/.exec(text) ?? [];
  const [, entry] = /^title:[ \t]+(.+)$/m.exec(matter) ?? [];
  const body = text.slice(matter.length).trimStart();
  // More than a title may have: one that is too long must be seen to be, not be cut.
  const [line = ''] = body.slice(0, 2 * tooLongForTitle).split(/\r?\n/, 1);
  const [, heading] = /^#[ \t]+(.+?)(?:[ \t]+#+)?[ \t]*$/.exec(line) ?? [];
  const title = entry === undefined ? heading : scalarOf(entry.trim());
  return title === '' || (title?.length ?? 0) >= tooLongForTitle ? undefined : title;
}

/** A plain or quoted YAML scalar; the other ways to write one are not read here. */
function scalarOf(entry: string): string | undefined {
  return /^[>|&*!{[]/.test(entry) ? undefined : entry.replace(/^(["'])(.*)\1$/, '$2');
}

function tooLarge(path: string): CliError {
  const limit = `${maxBytes / 1024 / 1024} MiB`;
  const message = `${inputName(path)} is over ${limit}: too large for one document.`;
  return new CliError('payload_too_large', message, 'Split it.');
}

function empty(path: string, source: string): CliError {
  const name = inputName(path);
  const message = source.trim() === '' ? `${name} is empty.` : `${name} contains no readable text.`;
  return new CliError('empty', message);
}
