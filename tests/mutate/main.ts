import { parseArgs } from 'node:util';
import { $, Glob } from 'bun';
import { areaOf, testsOfArea } from './areas.ts';
import { createCopy } from './attempt.ts';
import { drawMutants, type Mutant } from './mutants.ts';
import { createOrder } from './order.ts';
import { root } from './sources.ts';

/*
 *   bun tests/mutate/main.ts [--count 20] [--seed 1] [--limit 85] [--jobs 2] [--near]
 *                            [--only server/http/,server/tasks/]
 *
 * Mutation testing: makes small changes to copies of the code and runs the tests. The tests closest
 * to the mutation run first on each mutant, and then all tests on each that survives. A mutant
 * counts as killed if a test hangs, or if a test fails, fails again when its file runs alone, and
 * passes on the original code. Mutants that the type check rejects are not used. tests/tidy.test.ts
 * does not run, because it checks the source text, not the behaviour. With `--near`, only the
 * tests of the mutated area run, which is stricter and faster. Exits with status 1 if fewer than
 * `--limit` percent of the mutants are killed.
 *
 * equivalent.ts excludes equivalent mutants, which have no observable effect.
 */
const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    limit: { type: 'string', default: '85' },
    jobs: { type: 'string', default: '2' },
    only: { type: 'string', default: '' },
    near: { type: 'boolean', default: false },
  },
});

const files = (await $`git ls-files -co --exclude-standard`.cwd(root).text()).trim().split('\n');
const isCode = new Glob(`{server,sdk,cli}/**/*.ts`);
// The tests of the console need Chromium, and the adapters have packages of their own.
const isOther = /^(?:server\/console|sdk\/adapters)\/|(?:\.d|-examples)\.ts$/;
const code = files.filter((path) => isCode.match(path) && !isOther.test(path));
const tests = files.filter(
  (path) => path.endsWith('.test.ts') && !/^tests\/(faults|mutate|package|tidy)/.test(path),
);

const mutants = await drawMutants(
  Number(values.seed),
  Number(values.count),
  code.filter((path) => values.only.split(',').some((folder) => path.startsWith(folder))),
);
console.log(`seed ${values.seed}: ${mutants.length} mutants`);

const order = await createOrder(tests);
const survivors = new Set(mutants);
// All mutants go through their closest tests first, so that most results are known early.
for (const stage of [0, 1]) {
  await runEach((mutant) => order(mutant, mutant.text)[stage] ?? []);
  reportStage(`stage ${stage + 1}`);
}
await runEach(({ path }) => (values.near ? testsOfArea(path, tests) : tests));
reportStage('the other tests');
for (const area of new Set(mutants.map(({ path }) => areaOf(path)).sort())) {
  reportRate(area, (mutant) => areaOf(mutant.path) === area);
}
const rate = reportRate('all', () => true);
if (rate < Number(values.limit)) {
  console.log(`fewer than ${values.limit} % of the mutants were killed`);
  process.exitCode = 1;
}

/** Runs the chosen tests on each mutant that has survived, several mutants at a time. */
async function runEach(choose: (mutant: Mutant) => string[]): Promise<void> {
  const waiting = [...survivors];
  async function work(): Promise<void> {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const chosen = choose(mutant);
      if (chosen.length === 0) continue;
      using copy = createCopy(files, mutant);
      const by = await copy.killedBy(chosen);
      if (by === null) continue;
      survivors.delete(mutant);
      console.log(`killed by ${by}: ${shown(mutant)}`);
    }
  }
  await Promise.all(Array.from({ length: Number(values.jobs) }, work));
}

function reportStage(name: string): void {
  console.log(`after ${name}: ${survivors.size} of ${mutants.length} not killed`);
  for (const mutant of survivors) console.log(`  ${shown(mutant)}`);
}

function shown({ path, line, before, after }: Mutant): string {
  return `${path}:${line}: ${before} → ${after}`;
}

function reportRate(name: string, belongs: (mutant: Mutant) => boolean): number {
  const all = mutants.filter(belongs);
  const killed = all.filter((mutant) => !survivors.has(mutant)).length;
  const percent = (100 * killed) / all.length;
  console.log(`${name}: ${killed} of ${all.length} killed, ${percent.toFixed(0)} %`);
  return percent;
}
