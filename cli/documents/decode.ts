import { CliError } from '../errors.ts';
import { inputName } from '../terminal/input.ts';
import { quoted } from '../terminal/text.ts';

/** The length of the start of a file in which HTML and XML declare their character set. */
const headBytes = 4096;
const named =
  /<meta[^>]{1,200}?charset\s*=\s*["']?\s*([\w:.-]+)|^<\?xml[^>]{1,200}?encoding\s*=\s*["']([\w.-]+)/i;

/**
 * Decodes a file as UTF-8, unless it starts with a UTF-16 byte order mark or is HTML that declares
 * another character set. Throws on invalid bytes.
 */
export function decodeDocument(bytes: Uint8Array, path: string, html: boolean): string {
  const charset = markOf(bytes) ?? (html ? charsetOf(bytes) : undefined) ?? 'utf-8';
  const text = decode(bytes, charset, path);
  if (!text.includes('\0')) return text;
  const message = `${inputName(path)} is not text: it contains the character U+0000.`;
  throw new CliError('not_text', message);
}

function markOf([first, second]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined;
}

function charsetOf(bytes: Uint8Array): string | undefined {
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, headBytes));
  const [, meta, xml] = named.exec(head) ?? [];
  const charset = meta ?? xml;
  // A declared UTF-16 must be wrong: in UTF-16, the declaration would not be readable as Latin-1.
  return charset !== undefined && /^utf-?16/i.test(charset) ? 'utf-8' : charset;
}

function decode(bytes: Uint8Array, charset: string, path: string): string {
  let decoder: TextDecoder | undefined;
  try {
    decoder = new TextDecoder(charset as Bun.Encoding, { fatal: true });
    return decoder.decode(bytes);
  } catch {
    const isKnown = decoder !== undefined;
    const message = isKnown
      ? `${inputName(path)} is not ${decoder?.encoding.toUpperCase()} text.`
      : `${inputName(path)} uses the character set ${charset}, which is not supported.`;
    const hint = isKnown
      ? `To convert it from another character set: iconv -f WINDOWS-1252 -t UTF-8 ${quoted(path)}`
      : `Convert it to UTF-8 first: iconv -f ${charset} -t UTF-8 ${quoted(path)}`;
    throw new CliError('not_text', message, hint);
  }
}
