/*
 * Adds to JSON.parse the position of a syntax error and the detection of numbers that cannot be
 * sent as they were written.
 */

/** The wording equals that of the service, which never receives such a number. */
export const soLarge = 'must not contain a number outside the range of a double';

/** For example, 1e400 is valid JSON but parses to Infinity, which would be sent as null. */
export function holdsSoLarge(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsSoLarge);
}

const text = /"(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy;
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)\b/y;
const space = /[ \t\r\n]*/y;

/** Locates a syntax error: line and column, counted from 1, and the text found there. */
export function whereJsonBreaks(json: string): { line: number; column: number; found: string } {
  /** The closing character of each open value, the innermost last. */
  const open: string[] = [];
  let at = 0;
  let expected = 'a value';
  const eat = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const isThere = pattern.test(json);
    if (isThere) at = pattern.lastIndex;
    return isThere;
  };
  const sign = (one: string) => json[at] === one && eat(/./y);
  for (;;) {
    eat(space);
    const close = open.at(-1);
    if (expected.endsWith(` or ${close}`) && sign(close ?? '')) {
      open.pop();
      expected = afterValue(open);
    } else if (expected.startsWith('a name') && eat(text)) expected = ':';
    else if (expected.startsWith(', or') && sign(',')) expected = close === ']' ? value : name;
    else if (expected === ':' && sign(':')) expected = value;
    else if (expected.startsWith(value) && sign('[')) expected = `${value} or ${push(open, ']')}`;
    else if (expected.startsWith(value) && sign('{')) expected = `${name} or ${push(open, '}')}`;
    else if (expected.startsWith(value) && (eat(text) || eat(scalar))) expected = afterValue(open);
    else return placeOf(json, at, expected);
  }
}

const value = 'a value';
const name = 'a name in double quotes';

function push(open: string[], close: string): string {
  open.push(close);
  return close;
}

function afterValue(open: string[]): string {
  return open.length === 0 ? 'the end' : `, or ${open.at(-1)}`;
}

function placeOf(json: string, at: number, expected: string) {
  const before = json.slice(0, at);
  const rest = JSON.stringify(json.slice(at, at + 20).split('\n', 1)[0]);
  const found = at >= json.length ? 'the text ends' : `found ${rest}`;
  return {
    line: before.split('\n').length,
    column: at - before.lastIndexOf('\n'),
    found: `${found} where ${expected} was expected`,
  };
}
