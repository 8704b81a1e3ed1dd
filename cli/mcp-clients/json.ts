import { applyEdits, format, modify, type ParseError, parse } from 'jsonc-parser';
import { isObject, jsonSyntaxError } from '../terminal/json.ts';
import type { Table } from './entry.ts';

/* Edits settings in JSON with comments, and keeps the comments and the layout. */

const dialect = { allowTrailingComma: true };

export function parseJson(text: string): Table | undefined {
  if (text.trim() === '') return {};
  const errors: ParseError[] = [];
  const value = parse(text, errors, dialect);
  return errors.length === 0 && isObject(value) ? value : undefined;
}

export async function jsonProblem(text: string): Promise<string | undefined> {
  const problem = await jsonSyntaxError(text, dialect);
  return problem && `is not valid JSON: ${problem}`;
}

/** Returns the text with the entry set in its section. Only new text is formatted. */
export function editJson(text: string, [section, name]: [string, string], value: Table): string {
  const [indent = '  '] = /(?<=\n)[ \t]+(?=["/])/.exec(text) ?? [];
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const insertSpaces = !indent.startsWith('\t');
  const options = { insertSpaces, tabSize: insertSpaces ? indent.length : 1, eol };
  const [edit] = modify(text, [section, name], value, {});
  if (edit === undefined) return text;
  // Puts the entry on its own line, so the formatter does not change other entries.
  const depth = edit.content.startsWith(`,${JSON.stringify(name)}`) ? 2 : 1;
  const content = edit.content.replace(/^,/, `,${eol}${indent.repeat(depth)}`);
  const edited = applyEdits(text, [{ ...edit, content }]);
  const begin = edit.offset + content.search(/[^,\s]/);
  const range = { offset: begin, length: edit.offset + content.length - begin };
  const formatted = applyEdits(edited, format(edited, range, options));
  return text.trim() === '' ? `${formatted.trim()}\n` : formatted;
}
