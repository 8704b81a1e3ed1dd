import { dirname, join } from 'node:path';
import { testsOfArea } from './areas.ts';
import { root } from './sources.ts';

type Position = { path: string; line: number };

/**
 * The number of test files in the second stage. They kill most of the remaining mutants in seconds.
 */
const near = 4;
/**
 * The number of lines above and below a mutation whose words are compared with those of the tests.
 */
const around = 8;
/** The weight of a word in the name of a test file, relative to a word in its text. */
const nameWeight = 4;

/**
 * Returns the test file that is nearest to the mutated code, and the next few. The nearest files
 * share the rarest words with the code around the mutation.
 */
export async function createOrder(tests: string[]) {
  const wordsOf = new Map<string, Set<string>>();
  for (const test of tests) wordsOf.set(test, new Set(wordsIn(await textOf(test))));
  const filesWith = new Map<string, number>();
  for (const words of wordsOf.values()) {
    for (const word of words) filesWith.set(word, (filesWith.get(word) ?? 0) + 1);
  }
  const rarity = (word: string) => Math.log(tests.length / (filesWith.get(word) ?? tests.length));

  return ({ path, line }: Position, text: string): string[][] => {
    const lines = text.split('\n').slice(Math.max(0, line - around), line + around);
    const about = [...new Set(wordsIn(lines.join(' ')))];
    const named = wordsIn(path);
    const nearness = (test: string) => {
      const words = wordsOf.get(test) ?? new Set();
      const shared = about.filter((word) => words.has(word)).map(rarity);
      const names = wordsIn(test)
        .filter((word) => named.includes(word))
        .map(rarity);
      // Long files share more words by chance.
      return (sum(shared) + nameWeight * sum(names)) / Math.log(words.size + 10);
    };
    const area = testsOfArea(path, tests).sort((a, b) => nearness(b) - nearness(a));
    return [area.slice(0, 1), area.slice(1, 1 + near)];
  };
}

/** Returns the text of a test file and of the modules that it imports from its folder. */
async function textOf(test: string): Promise<string> {
  const text = await Bun.file(join(root, test)).text();
  const imported = Array.from(
    text.matchAll(/^(?:import|\}).* from '\.\/([\w-]+\.ts)'/gm),
    ([, name = '']) => name,
  );
  const texts = imported.map((name) => Bun.file(join(root, dirname(test), name)).text());
  return [test, text, ...(await Promise.all(texts))].join(' ');
}

/** Splits text into words, and identifiers into their parts: `idleReader` into two words. */
function wordsIn(text: string): string[] {
  return (
    text
      .replace(/([a-z])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .match(/[a-z]{3,}/g) ?? []
  );
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
