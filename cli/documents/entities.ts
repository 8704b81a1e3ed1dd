/** The entities that browsers accept without a semicolon, limited to those still in use. */
const unended = /^(?:#.*|nbsp|amp|lt|gt|quot|copy|reg)$/;
const entity = /&(#x[\da-f]{1,6}|#\d{1,7}|[a-z][a-z\d]{1,31})(;?)/gi;

/** Decodes the entities in HTML text. Anything that only looks like an entity is kept. */
export function decodeEntities(text: string): string {
  return text.replace(entity, (whole, name: string, end: string) => {
    if (end === '' && !unended.test(name)) return whole;
    return name.startsWith('#') ? decodeNumber(name.slice(1)) : (decodeName(name) ?? whole);
  });
}

const marks: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' };

/**
 * Markdown uses the entity names of HTML and Bun includes Markdown, so we need no table of 2,231
 * names.
 */
function decodeName(name: string): string | undefined {
  const html = Bun.markdown.html(`&${name};`).slice('<p>'.length, -'</p>\n'.length);
  if (html === `&amp;${name};`) return undefined;
  return html.replace(/&(amp|lt|gt|quot);/g, (whole, mark) => marks[mark] ?? whole);
}

function decodeNumber(digits: string): string {
  const code = Number(/^x/i.test(digits) ? `0${digits.toLowerCase()}` : digits);
  // As in browsers: these code points are control characters, but authors meant Windows-1252.
  if (code >= 0x80 && code < 0xa0) return windows.decode(Uint8Array.of(code));
  const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000);
  return isCharacter ? String.fromCodePoint(code) : '\ufffd';
}

const windows = new TextDecoder('windows-1252');
