import { type Column, printJson, printJsonLine, printTable } from './terminal/output.ts';
import { note, type Terminal } from './terminal/terminal.ts';

type Pages<Item> = PromiseLike<{ items: Item[]; nextCursor: string | null }> & AsyncIterable<Item>;

type PageOptions = {
  all?: true | undefined;
  json?: true | undefined;
  limit?: number | undefined;
};

const maxPageItems = 100;

/** Returns the page size. The default for --all is the maximum, which needs the fewest requests. */
export function pageSize({ all, limit }: PageOptions): number | undefined {
  return limit ?? (all ? maxPageItems : undefined);
}

export async function printPages<Item extends object>(
  term: Terminal,
  options: PageOptions,
  pages: Pages<Item>,
  columns: Column<Item>[],
  none: string,
): Promise<void> {
  if (options.all) return printAll(term, options, pages, columns);
  const page = await pages;
  if (options.json) return printJson(term, page);
  await printTable(term, columns, page.items);
  if (page.items.length === 0) await note(term, none);
  if (page.nextCursor !== null) {
    await note(term, `More results are available: add --all, or --cursor ${page.nextCursor}`);
  }
}

async function printAll<Item extends object>(
  term: Terminal,
  { json, limit = maxPageItems }: PageOptions,
  items: AsyncIterable<Item>,
  columns: Column<Item>[],
): Promise<void> {
  let rows: Item[] = [];
  for await (const item of items) {
    if (json) await printJsonLine(term, item);
    else rows.push(item);
    if (rows.length < limit) continue;
    await printTable(term, columns, rows);
    rows = [];
  }
  await printTable(term, columns, rows);
}
