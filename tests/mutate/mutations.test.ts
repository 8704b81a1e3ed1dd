import { afterAll, expect, test } from 'bun:test';
import { mutationsOf } from './mutations.ts';
import { openSources } from './sources.ts';

const sources = await openSources();
afterAll(() => sources.close());

/** Returns the mutation operator and the mutated text of each mutant of a source text. */
async function mutantsOf(text: string): Promise<[operator: string, changed: string][]> {
  const found = mutationsOf(await sources.parse('server/ids.ts', text), text);
  return [...found].flatMap(([operator, mutations]) =>
    mutations.map(({ start, end, text: by }): [string, string] => [
      operator,
      text.slice(0, start) + by + text.slice(end),
    ]),
  );
}

const changes: [operator: string, text: string, changed: string][] = [
  ['comparison', 'const a = b < c;', 'const a = b <= c;'],
  ['comparison', 'const a = b < c;', 'const a = b >= c;'],
  ['comparison', 'const a = b === c;', 'const a = b !== c;'],
  ['condition', 'if (a) b();', 'if (!(a)) b();'],
  ['condition', 'const a = b ? 1 : 2;', 'const a = !(b) ? 1 : 2;'],
  ['condition', 'const a = b && c;', 'const a = (c);'],
  ['condition', 'const a = b ?? c;', 'const a = (b);'],
  ['constant', 'const a = 0;', 'const a = 1;'],
  ['constant', 'const a = 60_000;', 'const a = 30000;'],
  ['boolean', 'const a = true;', 'const a = false;'],
  ['removal', 'a(1);', '{}'],
  ['removal', 'if (a) throw b;', '{}'],
  ['result', 'const a = () => b;', 'const a = () => null;'],
  ['result', 'function a() { return b; }', 'function a() { return false; }'],
  ['sql', "const a = 'SELECT b FROM c WHERE d > ?';", "const a = 'SELECT b FROM c WHERE d >= ?';"],
  ['sql', `const a = \`b $\{c} AND d <= +?\`;`, `const a = \`b $\{c} AND d < +?\`;`],
];
test.each(changes)('%s: %s becomes %s', async (operator, text, changed) => {
  expect(await mutantsOf(text)).toContainEqual([operator, changed]);
});

test.each([
  '// if (a < 1) return true;',
  '/** Returns 5, or `true` where a < b. */',
  "const a = 'if (b < 1 && c) return true;';",
  `const a = \`b < 1 $\{c} true\`;`,
  'const a = /b{1}/;',
  "import { a } from './b.ts';",
  'type A = { b: 1; c: true } | (() => 2);',
  'interface A { b: 1 }',
  'const a = b as 1;',
])('%s has no mutants', async (text) => {
  expect(await mutantsOf(text)).toEqual([]);
});

test('a mutant with a type error is invalid, but a mutant with an unused name is valid', async () => {
  const text = 'function a(b: number): number { return b; }\nexport const c = a(1);';
  expect(await sources.isValid('server/ids.ts', text)).toBe(true);
  expect(await sources.isValid('server/ids.ts', text.replace('a(1)', "a('')"))).toBe(false);
  expect(await sources.isValid('server/ids.ts', text.replace('return b', 'return'))).toBe(false);
  expect(await sources.isValid('server/ids.ts', text.replace('= a(1)', '= 1'))).toBe(true);
});
