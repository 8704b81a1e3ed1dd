import type { Output } from './process-output.ts';

/** Start and end codes. Loading them from node:util would take longer than `memory get` itself. */
const styles = { bold: [1, 22], dim: [2, 22], red: [31, 39], match: ['1;33', '22;39'] };

/** Escapes the text and gives it the style. */
export function paint(output: Output, style: keyof typeof styles, text: string): string {
  const [begin, end] = styles[style];
  const escaped = escapeControls(text);
  return output.color ? `\x1b[${begin}m${escaped}\x1b[${end}m` : escaped;
}

/** C0, DEL, C1, and the characters that embed, override or isolate the text direction. */
const controls = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;
const marks: Record<string, string> = { '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function toEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Prevents stored text from moving the cursor, changing colors or reordering the output. */
export function escapeControls(text: string): string {
  return text.replace(controls, (one) => (one === '\t' || one === '\n' ? one : toEscape(one)));
}

/** Like escapeControls(), for a single line: a file name may contain newlines. */
export function escapeLine(text: string): string {
  return text.replace(controls, (one) => marks[one] ?? toEscape(one));
}

/** Serializes JSON and escapes the control characters that JSON.stringify leaves unescaped. */
export function toJson(value: object, indent = 0): string {
  return escapeControls(JSON.stringify(value, null, indent));
}

export function cut(text: string, width: number): string {
  // Limits the work on a long document: a line cannot show more than this.
  const most = width * 8;
  const line = lineOf(text.slice(0, most)) + (text.length > most ? '…' : '');
  let shown = line;
  // Bun keeps a wide character if only its first column is within the width.
  for (let end = width; Bun.stringWidth(shown) > width; end -= 1) {
    shown = Bun.sliceAnsi(line, 0, end, '…');
  }
  return shown;
}

/** Like cut(), but keeps the end, which tells paths apart. */
export function cutStart(text: string, width: number): string {
  return Bun.sliceAnsi(lineOf(text), -width, undefined, '…');
}

function lineOf(text: string): string {
  return escapeControls(text.replace(/\s+/g, ' ')).trim();
}

/** Paints the parts of the text between the given positions, which are counted in code points. */
export function highlighted(
  output: Output,
  text: string,
  highlights: readonly { start: number; end: number }[],
): string {
  const characters = [...text];
  const part = (start: number, end?: number) => characters.slice(start, end).join('');
  let at = 0;
  const painted = highlights.map(({ start, end }) => {
    const before = escapeControls(part(at, start));
    at = end;
    return before + paint(output, 'match', part(start, end));
  });
  return painted.join('') + escapeControls(part(at));
}

export function indented(output: Output, text: string): string {
  const width = Math.max(10, output.columns - 2);
  return Bun.wrapAnsi(text, width, { hard: true }).replace(/^/gm, '  ');
}

export function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - Bun.stringWidth(text)));
}

export function shownPath({ home }: { home: string }, path: string): string {
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Quotes an argument for a shell, on one line. */
export function quoted(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (escapeLine(text) !== text) return `$'${escapeLine(text.replace(/[\\']/g, '\\$&'))}'`;
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

export function memoriesOf(count: number): string {
  return `${count} ${count === 1 ? 'memory' : 'memories'}`;
}

const byteUnits = ['KiB', 'MiB', 'GiB', 'TiB'];

export function shownBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
  const power = Math.min(byteUnits.length, Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 1024 ** power).toFixed(1)} ${byteUnits[power - 1]}`;
}

/** Escapes a value for a tab-separated line: control characters become \t, \n, \r or \u001b. */
export function escapeField(text: string): string {
  return escapeLine(text.replaceAll('\\', '\\\\'));
}

export function age(iso: string, now: number): string {
  const seconds = Math.max(0, Math.floor((now - Date.parse(iso)) / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}
