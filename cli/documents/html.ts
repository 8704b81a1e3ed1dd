import { decodeEntities } from './entities.ts';
import { type Layout, openLayout } from './layout.ts';

/** What nobody reads on the page, or what is no text. */
const unread = new Set(
  'script style template noscript iframe object svg canvas audio video noembed noframes'.split(' '),
);
const paragraphs = new Set(
  (
    'p h1 h2 h3 h4 h5 h6 hgroup blockquote pre dl section article aside header footer main nav ' +
    'figure fieldset form details address search hr'
  ).split(' '),
);
const lines = new Set(
  'html head body div center dt dd caption figcaption legend option summary textarea'.split(' '),
);
const tooLongForTitle = 1_000;

/** The text of a page as a reader sees it, and its title. */
export function readHtml(html: string): { text: string; title: string | undefined } {
  const layout = openLayout();
  let title: string | undefined;
  let pending = '';
  /** A newline there is not meant. */
  let atBeginOfPre = false;
  /** How deep we are in elements of these kinds. */
  const inside = { unread: 0, title: 0, pre: 0 };

  function takeText(): void {
    const text = decodeEntities(pending);
    pending = '';
    if (text === '' || inside.unread > 0) return;
    if (inside.title > 0) title ??= titleOf(text);
    else if (inside.pre > 0) layout.verbatim(atBeginOfPre ? text.replace(/^\r?\n/, '') : text);
    else layout.text(text);
    atBeginOfPre = false;
  }

  function enter(kind: keyof typeof inside, element: HTMLRewriterTypes.Element): void {
    if (!element.canHaveContent) return;
    inside[kind] += 1;
    element.onEndTag(() => {
      takeText();
      inside[kind] -= 1;
    });
  }

  new HTMLRewriter()
    .on('*', {
      element(element) {
        takeText();
        const { tagName } = element;
        if (unread.has(tagName)) enter('unread', element);
        else if (tagName === 'title') enter('title', element);
        else if (inside.unread === 0) lay(layout, element);
        atBeginOfPre = tagName === 'pre';
        if (atBeginOfPre) enter('pre', element);
      },
    })
    .onDocument({
      // A text comes in pieces, which may cut an entity.
      text(piece) {
        pending += piece.text;
        if (piece.lastInTextNode) takeText();
      },
    })
    .transform(html);
  takeText();
  return { text: layout.end().toWellFormed(), title };
}

/** What an element means for the layout, at its beginning and at its end. */
function lay(layout: Layout, element: HTMLRewriterTypes.Element): void {
  const { tagName } = element;
  const atEnd = (work: () => void) => {
    if (element.canHaveContent) element.onEndTag(work);
  };
  if (paragraphs.has(tagName)) {
    layout.paragraph();
    atEnd(layout.paragraph);
  } else if (lines.has(tagName)) {
    layout.line();
    atEnd(layout.line);
  } else if (tagName === 'br') {
    layout.lineBreak();
  } else if (tagName === 'ul' || tagName === 'ol' || tagName === 'menu') {
    layout.beginList(tagName === 'ol' ? firstNumber(element) : null);
    atEnd(layout.endList);
  } else if (tagName === 'li') {
    layout.beginItem();
    atEnd(layout.line);
  } else if (tagName === 'table') {
    layout.beginTable();
    atEnd(layout.endTable);
  } else if (tagName === 'tr') {
    layout.beginRow();
  } else if (tagName === 'td' || tagName === 'th') {
    layout.beginCell();
  }
}

function firstNumber(list: HTMLRewriterTypes.Element): number {
  const start = Number.parseInt(list.getAttribute('start') ?? '', 10);
  return Number.isNaN(start) ? 1 : start;
}

/** One that does not fit into the metadata would make the service refuse the whole page. */
function titleOf(text: string): string | undefined {
  const title = text.replace(/\s+/g, ' ').trim().toWellFormed();
  return title === '' || title.length > tooLongForTitle ? undefined : title;
}
