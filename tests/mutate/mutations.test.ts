import { afterAll, expect, test } from 'bun:test';
import { readSources } from '../tidy/source.ts';
import { unusedComments } from './equivalent.ts';
import { allMutationsOf, mutationsOf } from './mutations.ts';
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
  ['boundary', 'const a = b < c;', 'const a = b <= c;'],
  ['negation', 'const a = b < c;', 'const a = b >= c;'],
  ['negation', 'const a = b === c;', 'const a = b !== c;'],
  ['negation', 'if (a) b();', 'if (!(a)) b();'],
  ['negation', 'const a = b ? 1 : 2;', 'const a = !(b) ? 1 : 2;'],
  ['operand', 'const a = b && c;', 'const a = (c);'],
  ['operand', 'const a = b ?? c;', 'const a = (b);'],
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

test.each([
  ['constant', 'const aMs = 10 * 60_000;', 'const b = () => 10 * 60_000;'],
  ['constant', 'const aWeights = { b: 2 };', 'const a = { b: 2 };'],
  ['constant', 'const aAtOnce = 16;', 'const a = 16;'],
  ['constant', 'const a = { examples: [{ b: 2 }] };', 'const a = { b: 2 };'],
  ['constant', 'const a = limit + 1;', 'const a = limit + 2;'],
  ['boundary', 'const a = b < cMs;', 'const a = b < c;'],
  ['boundary', 'const a = b - performance.now() < c;', 'const a = b - now < c;'],
  ['boundary', 'const aBytes = 1;\nconst b = c < aBytes;', 'const b = (aBytes) => c < aBytes;'],
  ['boundary', "import { aBytes } from 'b';\nconst b = c < aBytes;", 'const b = c < d.aBytes;'],
  ['sql', "const a = 'WHERE b <= clock_timestamp()';", "const a = 'WHERE b <= c';"],
  ['sql', `const aBytes = 2;\nb(\`WHERE c <= $\{aBytes}\`);`, `b(\`WHERE c <= $\{d}\`);`],
  ['removal', 'await yieldToEventLoop();', 'await b();'],
  ['boolean', 'a.close(true);', 'a.open(true);'],
  ['constant', '// mutate-ignore constant: b\nconst a = 1;', 'const a = 1;'],
  ['constant', 'const a = 1; // mutate-ignore constant: b', 'const a = 1; // b'],
  ['boundary', '// mutate-ignore boundary: b\n// c\nif (a < 1) b();', 'if (a < 1) b();'],
])('an equivalent mutant (%s) is excluded: %s', async (operator, excluded, kept) => {
  const operators = async (text: string) => (await mutantsOf(text)).map(([name]) => name);
  expect(await operators(excluded)).not.toContain(operator);
  expect(await operators(kept)).toContain(operator);
});

test('a comment excludes only the mutants of its operator, on one line', async () => {
  const text = '// mutate-ignore constant: b\nconst a = b < 1;\nconst c = 2;';
  const operators = (await mutantsOf(text)).map(([operator]) => operator);
  expect(operators.sort()).toEqual(['boundary', 'constant', 'negation']);
});

test('every comment in the code excludes a mutant', async () => {
  const stale: string[] = [];
  for (const { path, text } of await readSources()) {
    if (path.startsWith('tests/') || !text.includes('mutate-ignore')) continue;
    const found = allMutationsOf(await sources.parse(path, text), text);
    stale.push(...unusedComments(text, found).map((line) => `${path}:${line}`));
  }
  expect(stale).toEqual([]);
});

test('a mutant with a type error is invalid, but a mutant with an unused name is valid', async () => {
  const text = 'function a(b: number): number { return b; }\nexport const c = a(1);';
  const isValid = (from: string, to: string) =>
    sources.isValid('server/ids.ts', text.replace(from, to));
  expect(await isValid('', '')).toBe(true);
  expect(await isValid('a(1)', "a('')")).toBe(false);
  expect(await isValid('return b', 'return')).toBe(false);
  expect(await isValid('= a(1)', '= 1')).toBe(true);
});
