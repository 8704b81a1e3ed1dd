import { type Layout, openLayout } from './layout.ts';

const unread = new Set(
  'script style template noscript iframe object svg canvas audio video noembed noframes'.split(' '),
);
type Step = Exclude<keyof Layout, 'text' | 'verbatim' | 'end'>;

/** The layout at the beginning and at the end of elements. */
const rules: [tags: string, begin: Step, end?: Step][] = [
  ['p h1 h2 h3 h4 h5 h6 hgroup blockquote pre dl section article aside', 'paragraph', 'paragraph'],
  ['header footer main nav figure fieldset form details address search', 'paragraph', 'paragraph'],
  ['hr', 'paragraph'],
  ['html head body div center dt dd caption figcaption legend option', 'line', 'line'],
  ['summary textarea', 'line', 'line'],
  ['br', 'lineBreak'],
  ['ul ol menu', 'beginList', 'endList'],
  ['li', 'beginItem', 'line'],
  ['table', 'beginTable', 'endTable'],
  ['tr', 'beginRow'],
  ['td th', 'beginCell'],
];
const ruleOf = new Map(
  rules.flatMap(([tags, begin, end]) => tags.split(' ').map((tag) => [tag, { begin, end }])),
);

/**
 * The maximum number of open elements with an end handler. Each end tag costs time proportional to
 * the number of open elements, so without a limit a page could take hours.
 */
const maxOpen = 10_000;

/** Schedules work for the end of an element. Returns false if the limit is reached. */
type AtEnd = (element: HTMLRewriterTypes.Element, work: () => void) => boolean;

/** Returns the visible text and the title of a page. */
export function readHtml(
  source: string,
  mimeType = 'text/html',
): { text: string; title: string | undefined } {
  const layout = openLayout();
  let title: string | undefined;
  let pending = '';
  /** True at the start of <pre>, where a newline is not content. */
  let atBeginOfPre = false;
  const inside = { unread: false, title: false, pre: false };

  function takeText(): void {
    const text = decodeEntities(pending);
    pending = '';
    if (text === '' || inside.unread) return;
    if (inside.title) title ||= text.replace(/\s+/g, ' ').trim().toWellFormed();
    else if (inside.pre) layout.verbatim(atBeginOfPre ? text.replace(/^\r?\n/, '') : text);
    else layout.text(text);
    atBeginOfPre = false;
  }

  /** Registers an end handler for the outermost element of a kind. */
  function enter(kind: keyof typeof inside, element: HTMLRewriterTypes.Element): void {
    if (inside[kind] || !element.canHaveContent) return;
    inside[kind] = true;
    element.onEndTag(() => {
      takeText();
      inside[kind] = false;
    });
  }

  const atEnd = boundedAtEnd();

  new HTMLRewriter()
    .on('*', {
      element(element) {
        takeText();
        const { tagName } = element;
        if (inside.unread) return;
        if (unread.has(tagName)) enter('unread', element);
        else if (tagName === 'title') enter('title', element);
        else lay(layout, element, atEnd);
        atBeginOfPre = tagName === 'pre';
        if (atBeginOfPre) enter('pre', element);
      },
    })
    .onDocument({
      // The text is delivered in pieces, which may split an entity.
      text(piece) {
        pending += piece.text;
        if (piece.lastInTextNode) takeText();
      },
    })
    .transform(isXml(mimeType, source) ? asHtml(source) : source);
  takeText();
  return { text: layout.end().toWellFormed(), title };
}

function boundedAtEnd(): AtEnd {
  let open = 0;
  return (element, work) => {
    if (!element.canHaveContent || open >= maxOpen) return false;
    open += 1;
    element.onEndTag(() => {
      open -= 1;
      work();
    });
    return true;
  };
}

function lay(layout: Layout, element: HTMLRewriterTypes.Element, atEnd: AtEnd): void {
  const { begin, end } = ruleOf.get(element.tagName) ?? {};
  if (begin === undefined) return;
  const ends = end !== undefined && atEnd(element, layout[end]);
  // A list or table that never ends would change the layout of the rest of the page.
  const mustEnd = begin === 'beginList' || begin === 'beginTable';
  if (mustEnd && !ends) return;
  if (element.tagName === 'ol') layout.beginList(firstNumber(element));
  else layout[begin]();
}

function firstNumber(list: HTMLRewriterTypes.Element): number {
  const start = Number.parseInt(list.getAttribute('start') ?? '', 10);
  return Number.isNaN(start) ? 1 : start;
}

/**
 * The elements whose content is not page text. If such an element is not closed, the rest of the
 * page becomes its content.
 */
const readAsRaw = 'script|style|title|textarea|iframe|noscript|template|object|canvas|audio|video';
const attributes = /(?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*/.source;
const closedAtOnce = new RegExp(`<(${readAsRaw})(${attributes})\\s*/>`, 'g');

function isXml(mimeType: string, source: string): boolean {
  return /\bxhtml\b/i.test(mimeType) || source.startsWith('<?xml');
}

/**
 * Adds end tags to self-closing XML elements. An HTML parser ignores the slash and would treat the
 * rest of the page as their content.
 */
function asHtml(source: string): string {
  return source.replace(closedAtOnce, '<$1$2></$1>');
}

/** The common entities that browsers accept without a semicolon. */
const unended = /^(?:#.*|nbsp|amp|lt|gt|quot|copy|reg)$/;
const entity = /&(#x[\da-f]{1,6}|#\d{1,7}|[a-z][a-z\d]{1,31})(;?)/gi;

/** Decodes the entities in HTML text. Unknown entities are kept. */
function decodeEntities(text: string): string {
  return text.replace(entity, (whole, name: string, end: string) => {
    return end === '' && !unended.test(name) ? whole : (decodeEntity(name) ?? whole);
  });
}

const marks: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' };

/** Decodes an entity with Bun's Markdown parser, which knows the entity names of HTML. */
function decodeEntity(name: string): string | undefined {
  const html = Bun.markdown.html(`&${name};`).slice('<p>'.length, -'</p>\n'.length);
  if (html === `&amp;${name};`) return undefined;
  return (
    html
      .replace(/&(amp|lt|gt|quot);/g, (whole, mark) => marks[mark] ?? whole)
      // Reads these control characters as Windows-1252, as browsers do.
      .replace(/[\x80-\x9f]/g, (control) => windows.decode(Buffer.from(control, 'latin1')))
  );
}

const windows = new TextDecoder('windows-1252');
