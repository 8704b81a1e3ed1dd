import { applyEdits, format, modify, parse } from 'jsonc-parser';
import { jsonSyntaxError } from '../terminal/json.ts';

/* Edits settings in JSON with comments, and keeps the comments and the layout. */

const dialect = { allowTrailingComma: true };

export async function parseJson(text: string): Promise<unknown> {
  if (text.trim() === '') return {};
  const problem = await jsonSyntaxError(text, dialect);
  if (problem !== undefined) throw new SyntaxError(`is not valid JSON: ${problem}`);
  return parse(text, [], dialect);
}

/** Returns the text with the entry set in its section. Only new text is formatted. */
export function editJson(text: string, [section, name]: [string, string], value: object): string {
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
