/** The entities in common use that browsers accept without a semicolon. */
const unended = /^(?:#.*|nbsp|amp|lt|gt|quot|copy|reg)$/;
const entity = /&(#x[\da-f]{1,6}|#\d{1,7}|[a-z][a-z\d]{1,31})(;?)/gi;

/** Decodes the entities in HTML text. Unknown entities are kept. */
export function decodeEntities(text: string): string {
  return text.replace(entity, (whole, name: string, end: string) => {
    if (end === '' && !unended.test(name)) return whole;
    return name.startsWith('#') ? decodeNumber(name.slice(1)) : (decodeName(name) ?? whole);
  });
}

const marks: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' };

/**
 * Decodes the name with Bun's Markdown parser, which includes the 2,231 entity names of HTML.
 */
function decodeName(name: string): string | undefined {
  const html = Bun.markdown.html(`&${name};`).slice('<p>'.length, -'</p>\n'.length);
  if (html === `&amp;${name};`) return undefined;
  return html.replace(/&(amp|lt|gt|quot);/g, (whole, mark) => marks[mark] ?? whole);
}

function decodeNumber(digits: string): string {
  const code = Number(/^x/i.test(digits) ? `0${digits.toLowerCase()}` : digits);
  // Reads these control characters as Windows-1252, like browsers.
  if (code >= 0x80 && code < 0xa0) return windows.decode(Uint8Array.of(code));
  const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000);
  return isCharacter ? String.fromCodePoint(code) : '\ufffd';
}

const windows = new TextDecoder('windows-1252');
