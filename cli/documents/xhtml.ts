/**
 * The elements whose content is not page text. If such an element is not closed, the rest of the
 * page becomes its content.
 */
const names = 'script|style|title|textarea|iframe|noscript|template|object|canvas|audio|video';
const attributes = /(?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*/.source;
const closedAtOnce = new RegExp(`<(${names})(${attributes})\\s*/>`, 'g');

export function isXml(mimeType: string, source: string): boolean {
  return /\bxhtml\b/i.test(mimeType) || source.startsWith('<?xml');
}

/**
 * Adds end tags to self-closing elements of XML. An HTML parser ignores the slash and would treat
 * the rest of the page as their content.
 */
export function asHtml(source: string): string {
  return source.replace(closedAtOnce, '<$1$2></$1>');
}
