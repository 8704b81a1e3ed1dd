import { join } from 'node:path';
import { createRandom } from '../support/random.ts';
import { possibleFaults } from './places.ts';
import { openSources, root } from './sources.ts';

/** A small fault and the whole lines that it changes. */
export type Fault = {
  path: string;
  line: number;
  kind: string;
  before: string;
  after: string;
  /** The file with the fault in it. */
  text: string;
};

type Target = { path: string; text: string; lines: number };

/**
 * Draws `count` different faults that pass the type check. The same code and seed yield the same
 * faults. Chooses a file with a probability proportional to its lines, then a kind, then a place.
 */
export async function drawFaults(seed: number, count: number, paths: string[]): Promise<Fault[]> {
  const random = createRandom(seed);
  const targets = await Promise.all(paths.map(readTarget));
  const sources = await openSources();
  const faults: Fault[] = [];
  const seen = new Set<string>();
  for (let misses = 0; faults.length < count && misses < 100 * count; misses += 1) {
    const { path, text } = chooseByLines(targets, random.next());
    const possible = possibleFaults(await sources.parse(path, text), text);
    if (possible.size === 0) continue;
    const kind = random.pick([...possible.keys()]);
    const edit = random.pick(possible.get(kind) ?? []);
    const changed = text.slice(0, edit.start) + edit.text + text.slice(edit.end);
    if (seen.has(changed) || !(await sources.isValid(path, changed))) continue;
    seen.add(changed);
    faults.push({ path, kind, text: changed, ...linesOf(text, changed, edit) });
  }
  await sources.close();
  return faults;
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
  if (chosen === undefined) throw new Error('there is no code to put a fault into');
  return chosen;
}

/** Returns the lines that an edit touches, before and after the edit. */
function linesOf(text: string, changed: string, edit: { start: number; end: number }) {
  const start = text.lastIndexOf('\n', edit.start - 1) + 1;
  const rest = text.length - edit.end;
  const tail = text.slice(edit.end).split('\n', 1).join();
  const part = (whole: string) => {
    return whole
      .slice(start, whole.length - rest + tail.length)
      .replace(/\s+/g, ' ')
      .trim();
  };
  return {
    line: text.slice(0, edit.start).split('\n').length,
    before: part(text),
    after: part(changed),
  };
}
