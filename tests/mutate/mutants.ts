import { join } from 'node:path';
import { createRandom } from '../support/random.ts';
import { mutationsOf } from './mutations.ts';
import { openSources, root } from './sources.ts';

/** A mutant, with the whole lines that its mutation changes. */
export type Mutant = {
  path: string;
  line: number;
  operator: string;
  before: string;
  after: string;
  /** The text of the mutated file. */
  text: string;
};

type Target = { path: string; text: string; lines: number };

/**
 * Draws `count` distinct mutants that pass the type check. The same code and seed yield the same
 * mutants. Chooses a file with a probability proportional to its number of lines, then a mutation
 * operator, then a position.
 */
export async function drawMutants(seed: number, count: number, paths: string[]): Promise<Mutant[]> {
  const random = createRandom(seed);
  const targets = await Promise.all(paths.map(readTarget));
  const sources = await openSources();
  const mutants: Mutant[] = [];
  const seen = new Set<string>();
  for (let misses = 0; mutants.length < count && misses < 100 * count; misses += 1) {
    const { path, text } = chooseByLines(targets, random.next());
    const mutations = mutationsOf(await sources.parse(path, text), text);
    if (mutations.size === 0) continue;
    const operator = random.pick([...mutations.keys()]);
    const mutation = random.pick(mutations.get(operator) ?? []);
    const changed = text.slice(0, mutation.start) + mutation.text + text.slice(mutation.end);
    if (seen.has(changed) || !(await sources.isValid(path, changed))) continue;
    seen.add(changed);
    mutants.push({ path, operator, text: changed, ...linesOf(text, changed, mutation) });
  }
  await sources.close();
  return mutants;
}

async function readTarget(path: string): Promise<Target> {
  const text = await Bun.file(join(root, path)).text();
  return { path, text, lines: text.split('\n').filter((line) => line.trim() !== '').length };
}

function chooseByLines(targets: Target[], share: number): Target {
  let left = share * targets.reduce((sum, { lines }) => sum + lines, 0);
  const chosen = targets.find(({ lines }) => {
    left -= lines;
    return left < 0;
  });
  if (chosen === undefined) throw new Error('there is no code to mutate');
  return chosen;
}

/** Returns the lines that a mutation touches, before and after the mutation. */
function linesOf(text: string, changed: string, mutation: { start: number; end: number }) {
  const start = text.lastIndexOf('\n', mutation.start - 1) + 1;
  const rest = text.length - mutation.end;
  const tail = text.slice(mutation.end).split('\n', 1).join();
  const part = (whole: string) => {
    return whole
      .slice(start, whole.length - rest + tail.length)
      .replace(/\s+/g, ' ')
      .trim();
  };
  return {
    line: text.slice(0, mutation.start).split('\n').length,
    before: part(text),
    after: part(changed),
  };
}
