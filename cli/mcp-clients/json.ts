import { applyEdits, modify, type ParseError, parse } from 'jsonc-parser';
import { isTable, type Table } from './entry.ts';

/* Settings as JSON with comments, as several clients accept them. Comments and layout stay. */

/** Undefined where the text is no table. */
export function parseJson(text: string): Table | undefined {
  if (text.trim() === '') return {};
  const errors: ParseError[] = [];
  const value = parse(text, errors, { allowTrailingComma: true });
  return errors.length === 0 && isTable(value) ? value : undefined;
}

/** The text with one value set. */
export function editJson(text: string, path: string[], value: Table): string {
  const isNew = text.trim() === '';
  const [indent = '  '] = /(?<=\n)[ \t]+(?=")/.exec(text) ?? [];
  const formattingOptions = {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.startsWith('\t') ? 1 : indent.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
  const edited = applyEdits(text, modify(text, path, value, { formattingOptions }));
  return isNew ? `${edited.trim()}\n` : edited;
}
