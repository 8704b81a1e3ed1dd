import { createLayout } from './layout.ts';

/* Converts HTML to the visible text of the page, on Bun's HTMLRewriter. */

const unread =
  /^(?:script|style|template|noscript|iframe|object|svg|canvas|audio|video|noembed|noframes)$/;

export function readHtml(
  source: string,
  mimeType = 'text/html',
): { text: string; title: string | undefined } {
  const layout = createLayout();
  /** How many elements are open of the kind whose content is skipped. */
  let [skipped, depth] = ['', 0];
  const isXml = /\bxhtml\b/i.test(mimeType) || source.startsWith('<?xml');
  for (const token of tagsAndTexts(isXml ? asHtml(source) : source)) {
    const [, slash, name] = /^<(\/?)([^>\s/]+)/.exec(token) ?? [];
    const tag = name?.toLowerCase();
    // HTML ignores the slash of a self-closing tag, except in SVG and MathML.
    if (tag === 'svg' && token.endsWith('/>')) continue;
    if (tag !== undefined && (depth > 0 ? tag === skipped : unread.test(tag))) {
      skipped = tag;
      depth = Math.max(0, depth + (slash === '' ? 1 : -1));
    } else if (depth > 0) continue;
    else if (tag === undefined) layout.text(decodeEntities(token));
    else if (slash === '') layout.begin(tag);
    else layout.end(tag);
  }
  return layout.result();
}

/** To remove attributes takes time quadratic in their number, and no tag of a page has as many. */
const maxAttributes = 256;

/** Splits a page into tags without attributes and texts. Drops what is not visible. */
function tagsAndTexts(source: string): string[] {
  const bare = new HTMLRewriter()
    .on('*', {
      element(element) {
        const attributes = [...element.attributes];
        if (attributes.length > maxAttributes) {
          if (unread.test(element.tagName)) return void element.remove();
          return void element.removeAndKeepContent();
        }
        for (const [name] of attributes) element.removeAttribute(name);
        // Tags with attributes are written again. The others may contain white space.
        element.setAttribute('x', '');
      },
    })
    .onDocument({
      text(piece) {
        if (piece.text.includes('<'))
          piece.replace(piece.text.replaceAll('<', '&lt;'), { html: true });
      },
      comments: (comment) => void comment.remove(),
      doctype: (doctype) => void doctype.remove(),
    })
    .transform(source);
  // A tag that the end of the page cuts off is not text.
  const cutOff = bare.indexOf('<', bare.lastIndexOf('>') + 1);
  return bare.slice(0, cutOff < 0 ? undefined : cutOff).split(/(<[^>]*>)/);
}

/**
 * The elements whose content is not page text. If such an element is not closed, the rest of the
 * page becomes its content.
 */
const readAsRaw = 'script|style|title|textarea|iframe|noscript|template|object|canvas|audio|video';
const attributes = /(?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*/.source;
const closedAtOnce = new RegExp(`<(${readAsRaw})(${attributes})\\s*/>`, 'g');

/** A comment, or a CDATA section with its text. One that is not closed extends to the end. */
const commentOrCdata = /<!--[\s\S]*?(?:-->|$)|<!\[CDATA\[([\s\S]*?)(?:\]\]>|$)/g;

/** Escapes CDATA sections, and adds end tags to self-closing elements: HTML has neither. */
function asHtml(source: string): string {
  return source
    .replace(commentOrCdata, (part, text?: string) =>
      text === undefined ? part : Bun.escapeHTML(text),
    )
    .replace(closedAtOnce, '<$1$2></$1>');
}

/** The common entities that browsers accept without a semicolon. */
const unended = /^(?:#.*|nbsp|amp|lt|gt|quot|copy|reg)$/;
const entity = /&(#x[\da-f]{1,6}|#\d{1,7}|[a-z][a-z\d]{1,31})(;?)/gi;
const windows = new TextDecoder('windows-1252');

/** Decodes the entities in HTML text. Unknown entities are kept. */
function decodeEntities(text: string): string {
  return text.replace(entity, (whole, name: string, end: string) => {
    return end === '' && !unended.test(name) ? whole : (decodeEntity(name) ?? whole);
  });
}

const escaped: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' };

/** Decodes an entity with Bun's Markdown parser, which knows the entity names of HTML. */
function decodeEntity(name: string): string | undefined {
  const html = Bun.markdown.html(`&${name};`).slice('<p>'.length, -'</p>\n'.length);
  if (html === `&amp;${name};`) return undefined;
  return (
    html
      .replace(/&(amp|lt|gt|quot);/g, (whole, mark) => escaped[mark] ?? whole)
      // Reads these control characters as Windows-1252, as browsers do.
      .replace(/[\x80-\x9f]/g, (control) => windows.decode(Buffer.from(control, 'latin1')))
  );
}
