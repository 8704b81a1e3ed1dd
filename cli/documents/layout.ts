/** What separates an element from the text before and after it. */
const gaps = new Map<string, string>([
  ...(
    'p h1 h2 h3 h4 h5 h6 hgroup blockquote pre dl table section article aside hr ' +
    'header footer main nav figure fieldset form details address search'
  )
    .split(' ')
    .map((tag): [string, string] => [tag, '\n\n']),
  ...'html head body div center dt dd li tr caption figcaption legend option summary textarea'
    .split(' ')
    .map((tag): [string, string] => [tag, '\n']),
]);

/** Writes texts with lines, paragraphs, list items and table rows between them. */
export function createLayout() {
  let [out, gap, mark, title] = ['', '', '', ''];
  /** The part of the mark that an item keeps. An item replaces the mark of an empty item. */
  let cellMark = '';
  let [inTitle, inPre, isPreBegin] = [false, false, false];
  /** True at the beginning of an item or a cell, where a block does not begin a new line. */
  let isSealed = false;
  let [rows, cells, rowAt] = [0, 0, 0];
  const lists: { items: number; isNumbered: boolean }[] = [];

  function write(text: string): void {
    if (text === '') return;
    out += (out === '' ? '' : gap) + mark + text;
    [gap, mark, cellMark, isSealed] = ['', '', '', false];
  }

  function separate(by: string): void {
    if (by === '' || isSealed) return;
    if (!gap.includes('\n') || gap.length < by.length) gap = by;
  }

  function flow(text: string): void {
    const flowing = text.replace(/[ \t\n\r\f]+/g, ' ');
    const words = flowing.replace(/^ | $/g, '').replaceAll('\u00a0', ' ');
    if (flowing.startsWith(' ') && gap === '') gap = ' ';
    write(words);
    if (words !== '' && flowing.endsWith(' ')) gap = ' ';
  }

  /** Keeps the white space. That at the end is written only if more text follows. */
  function writePre(text: string): void {
    const lines = text.replace(/\r\n?/g, '\n');
    const kept = isPreBegin ? lines.replace(/^\n/, '') : lines;
    const body = kept.trimEnd();
    isPreBegin = false;
    write(body);
    if (!isSealed) gap += kept.slice(body.length);
  }

  function beginItem(): void {
    const list = lists.at(-1) ?? { items: 0, isNumbered: false };
    if (list.items > 0 && !isSealed) gap = '\n';
    list.items += 1;
    const indent = '  '.repeat(Math.min(deepest, Math.max(0, lists.length - 1)));
    mark = `${cellMark}${indent}${list.isNumbered ? `${list.items}.` : '-'} `;
    isSealed = true;
  }

  function beginRow(): void {
    // The first row may follow the mark of an item.
    if (rows > 0) [gap, mark, cellMark] = ['\n', '', ''];
    [rows, cells, rowAt, isSealed] = [rows + 1, 0, out.length, true];
  }

  function beginCell(): void {
    if (cells > 0) mark += '| ';
    if (cells > 0 && out.length > rowAt) gap = ' ';
    cells += 1;
    [cellMark, isSealed] = [mark, true];
  }

  return {
    text(text: string): void {
      if (inTitle) title += text;
      else if (inPre) writePre(text);
      else flow(text);
    },
    begin(tag: string): void {
      separate(gaps.get(tag) ?? '');
      if (tag === 'title') inTitle = title === '';
      if (tag === 'br' && !isSealed) gap = gap.startsWith('\n') ? '\n\n' : '\n';
      if (tag === 'pre') [inPre, isPreBegin] = [true, true];
      if (isList.test(tag)) {
        separate(lists.length === 0 ? '\n\n' : '\n');
        lists.push({ items: 0, isNumbered: tag === 'ol' });
      }
      if (tag === 'li') beginItem();
      if (tag === 'table') [rows, cells, rowAt] = [0, 0, out.length];
      if (tag === 'tr') beginRow();
      if (tag === 'td' || tag === 'th') beginCell();
    },
    end(tag: string): void {
      if (tag === 'title') inTitle = false;
      if (tag === 'pre') inPre = false;
      if (isList.test(tag) || tag === 'table') [mark, cellMark, isSealed] = ['', '', false];
      if (isList.test(tag)) {
        lists.pop();
        separate(lists.length === 0 ? '\n\n' : '\n');
      }
      separate(gaps.get(tag) ?? '');
    },
    result() {
      const shown = title.replace(/\s+/g, ' ').trim().toWellFormed();
      return { text: out.trimEnd().toWellFormed(), title: shown || undefined };
    },
  };
}

const isList = /^(?:ul|ol|menu)$/;
const deepest = 10;
