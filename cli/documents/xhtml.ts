/** Of those that hold other text than the page around them, which is what they would swallow. */
const names = 'script|style|title|textarea|iframe|noscript|template|object|canvas|audio|video';
const attributes = /(?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*/.source;
const closedAtOnce = new RegExp(`<(${names})(${attributes})\\s*/>`, 'g');

export function isXml(mimeType: string, source: string): boolean {
  return /\bxhtml\b/i.test(mimeType) || source.startsWith('<?xml');
}

/** In XML an element may end by its slash. HTML knows no such thing: all that follows is in it. */
export function asHtml(source: string): string {
  return source.replace(closedAtOnce, '<$1$2></$1>');
}
