import { posix } from 'node:path';

/** The files that a folder is searched for, with their MIME types. */
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

export type Kind = {
  /** The type of the file, as its name has it. */
  mimeType: string;
  /** Read when a folder is searched; other files only when they are named. */
  isDocument: boolean;
  /** Never text, even when it is named. */
  isNeverText: boolean;
};

/** What a file is, by its name. Of an unknown one it is only known once it is read. */
export function kindOf(path: string): Kind {
  const mimeType = documents[extensionOf(path)];
  if (mimeType !== undefined) return { mimeType, isDocument: true, isNeverText: false };
  const { type } = Bun.file(path);
  const isNeverText = neverText.test(type);
  return { mimeType: isNeverText ? type : 'text/plain', isDocument: false, isNeverText };
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
