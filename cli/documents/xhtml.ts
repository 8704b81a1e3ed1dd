/**
 * Elements whose content browsers parse as something other than page text. Unclosed, they would
 * swallow the rest of the page.
 */
const names = 'script|style|title|textarea|iframe|noscript|template|object|canvas|audio|video';
const attributes = /(?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*/.source;
const closedAtOnce = new RegExp(`<(${names})(${attributes})\\s*/>`, 'g');

export function isXml(mimeType: string, source: string): boolean {
  return /\bxhtml\b/i.test(mimeType) || source.startsWith('<?xml');
}

/**
 * XML closes an element with a slash. HTML ignores the slash, so the rest of the page would be
 * inside.
 */
export function asHtml(source: string): string {
  return source.replace(closedAtOnce, '<$1$2></$1>');
}
