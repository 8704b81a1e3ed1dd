import { posix } from 'node:path';

/** The extensions that a folder search includes, with their MIME types. */
const documents: Record<string, string> = {
  '.txt': 'text/plain',
  '.text': 'text/plain',
  '.log': 'text/plain',
  '.md': 'text/markdown',
  '.markdown': 'text/markdown',
  '.mdx': 'text/markdown',
  '.html': 'text/html',
  '.htm': 'text/html',
  '.xhtml': 'application/xhtml+xml',
  '.csv': 'text/csv',
  '.tsv': 'text/tab-separated-values',
  '.json': 'application/json',
  '.jsonl': 'application/x-ndjson',
  '.ndjson': 'application/x-ndjson',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
  '.xml': 'application/xml',
  '.rst': 'text/x-rst',
  '.adoc': 'text/asciidoc',
  '.org': 'text/org',
  '.tex': 'text/x-tex',
  '.srt': 'application/x-subrip',
  '.vtt': 'text/vtt',
};

const neverText =
  /^(?:image|audio|video|font)\/|^application\/(?:pdf|zip|gzip|msword|epub|vnd\.|java-|wasm|x-(?:tar|7z|rar|bzip|iwork|apple|iso|ms|mobi))|^text\/rtf/;

/** Whether a folder search includes the file. An argument can name other files. */
export function isDocument(path: string): boolean {
  return extensionOf(path) in documents;
}

export function isNeverText(path: string): boolean {
  return neverText.test(mimeTypeOf(path));
}

/** Derives the type from the file name. Unknown types are treated as text. */
export function mimeTypeOf(path: string): string {
  const known = documents[extensionOf(path)];
  if (known !== undefined) return known;
  const { type } = Bun.file(path);
  return neverText.test(type) ? type : 'text/plain';
}

export function extensionOf(path: string): string {
  return posix.extname(path).toLowerCase();
}

export function isHtml(mimeType: string): boolean {
  return /^\s*(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i.test(mimeType);
}

export function isMarkdown(mimeType: string): boolean {
  return /^\s*text\/(?:x-)?markdown\s*(?:;|$)/i.test(mimeType);
}
