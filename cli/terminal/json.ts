/*
 * What JSON.parse of this runtime leaves open: where a text that it refused is wrong, and whether
 * what it took would be sent as it was written.
 */

/** In the words of the service, which gets to see no such number. */
export const soLarge = 'must not hold so large a number';

/** 1e400 is valid JSON; it is read as Infinity, and would be sent as null. */
export function holdsSoLarge(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsSoLarge);
}

const space = /[ \t\r\n]*/y;
const scalar =
  /"(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)\b/uy;

type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | ', or ]' | ', or }' | 'end';

/** Where a text stops being JSON: line and column from 1, and what stands there. */
export function whereJsonBreaks(text: string): { line: number; column: number; found: string } {
  const open: Array<'[' | '{'> = [];
  let expected: Expected = 'value';
  let at = 0;
  for (;;) {
    at = end(space, text, at) ?? at;
    const token = text[at] ?? '';
    const next = step(expected, token, open);
    const after = next === undefined ? undefined : isMark(token) ? at + 1 : end(scalar, text, at);
    if (next === undefined || after === undefined) return place(text, at, expected);
    expected = next;
    at = after;
  }
}

/** What may follow a token, or undefined where the token itself may not stand. */
function step(expected: Expected, token: string, open: Array<'[' | '{'>): Expected | undefined {
  const afterValue = () =>
    open.at(-1) === '[' ? ', or ]' : open.at(-1) === '{' ? ', or }' : 'end';
  if (expected.includes(token) && (token === ']' || token === '}')) {
    open.pop();
    return afterValue();
  }
  if (expected.startsWith('name')) return token === '"' ? ':' : undefined;
  if (expected === ':') return token === ':' ? 'value' : undefined;
  if (expected.startsWith(',')) {
    if (token !== ',') return undefined;
    return expected === ', or ]' ? 'value' : 'name';
  }
  if (expected === 'end' || token === '') return undefined;
  if (token === '[' || token === '{') {
    open.push(token);
    return token === '[' ? 'value or ]' : 'name or }';
  }
  return isMark(token) ? undefined : afterValue();
}

function isMark(token: string): boolean {
  return token !== '' && '[]{},:'.includes(token);
}

function end(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

const wantedIn: Partial<Record<Expected, string>> = {
  value: 'a value',
  'value or ]': 'a value or ]',
  name: 'a name in double quotes',
  'name or }': 'a name in double quotes or }',
  end: 'the end',
};

function place(text: string, at: number, expected: Expected) {
  const before = text.slice(0, at);
  const line = before.split('\n').length;
  const column = at - before.lastIndexOf('\n');
  const rest = JSON.stringify(text.slice(at, at + 20).split('\n', 1)[0]);
  const wanted = wantedIn[expected] ?? expected;
  const found = at >= text.length ? 'the text ends here' : `found ${rest}`;
  return { line, column, found: `${found} where ${wanted} should be` };
}
