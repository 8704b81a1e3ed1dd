type List = { items: number; from: number | null };
type Table = { cells: number; rowBegan: number | undefined };

const deepest = 10;

export type Layout = ReturnType<typeof openLayout>;

/**
 * Formats text as lines, paragraphs, list items with markers, and table rows. The separator between
 * two pieces of text is chosen when the second piece arrives, so empty and nested blocks do not
 * produce blank lines.
 */
export function openLayout() {
  let out = '';
  let gap = '';
  /** True at the start of an item or a cell, where a block does not start a new line. */
  let sealed = false;
  let mark = '';
  let bars = 0;
  const lists: List[] = [];
  const tables: Table[] = [];

  function write(text: string): void {
    const bar = bars === 0 ? '' : `${gap === '' ? ' ' : ''}${'| '.repeat(bars)}`;
    out += `${out === '' ? '' : gap}${bar}${mark}${text}`;
    gap = '';
    mark = '';
    bars = 0;
    sealed = false;
  }

  function part(by: '\n' | '\n\n'): void {
    if (!sealed && (!gap.includes('\n') || gap.length < by.length)) gap = by;
  }

  return {
    text(text: string): void {
      const flowing = text.replace(/[ \t\n\r\f]+/g, ' ');
      const words = flowing.replace(/^ | $/g, '').replaceAll('\u00a0', ' ');
      if (flowing.startsWith(' ') && gap === '' && bars === 0) gap = ' ';
      if (words === '') return;
      write(words);
      if (flowing.endsWith(' ')) gap = ' ';
    },
    /** Adds preformatted text. Trailing newlines are written only if more text follows. */
    verbatim(text: string): void {
      const lines = text.replace(/\r\n?/g, '\n');
      // A regular expression anchored at the end takes quadratic time on many newlines.
      let end = lines.length;
      while (end > 0 && lines[end - 1] === '\n') end -= 1;
      if (end > 0) write(lines.slice(0, end));
      if (!sealed) gap += lines.slice(end);
    },
    line: () => part('\n'),
    paragraph: () => part('\n\n'),
    lineBreak(): void {
      if (!sealed) gap = gap.startsWith('\n') ? '\n\n' : '\n';
    },
    /** `from` is the first number of an ordered list; null for an unordered list. */
    beginList(from: number | null = null): void {
      part(lists.length === 0 ? '\n\n' : '\n');
      lists.push({ items: 0, from });
    },
    endList(): void {
      lists.pop();
      sealed = false;
      mark = '';
      part(lists.length === 0 ? '\n\n' : '\n');
    },
    beginItem(): void {
      const list = lists.at(-1) ?? { items: 0, from: null };
      part('\n');
      if (list.items > 0 && !sealed) gap = '\n';
      const sign = list.from === null ? '-' : `${list.from + list.items}.`;
      mark = `${'  '.repeat(Math.min(deepest, Math.max(0, lists.length - 1)))}${sign} `;
      list.items += 1;
      sealed = true;
    },
    beginTable(): void {
      part('\n\n');
      tables.push({ cells: 0, rowBegan: undefined });
    },
    endTable(): void {
      tables.pop();
      sealed = false;
      bars = 0;
      part('\n\n');
    },
    beginRow(): void {
      part('\n');
      const table = tables.at(-1);
      if (table === undefined) return;
      // The pending bars before the first row belong to the outer table, if any.
      if (table.rowBegan !== undefined) bars = 0;
      if (table.rowBegan !== undefined && out.length > table.rowBegan) gap = '\n';
      Object.assign(table, { cells: 0, rowBegan: out.length });
      sealed = true;
    },
    beginCell(): void {
      const table = tables.at(-1);
      if (table === undefined) {
        part('\n');
        return;
      }
      if (table.cells > 0) bars += 1;
      if (table.cells > 0 && out.length > (table.rowBegan ?? 0)) gap = '';
      table.cells += 1;
      sealed = true;
    },
    end: () => out.trimEnd(),
  };
}
