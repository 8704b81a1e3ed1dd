import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { $, Glob } from 'bun';
import { createCopy } from './attempt.ts';
import { drawFaults, type Fault } from './faults.ts';
import { createOrder } from './order.ts';
import { roomOf } from './rooms.ts';
import { root } from './sources.ts';

/*
 *   bun tests/mutate/main.ts [--count 20] [--seed 1] [--limit 85] [--jobs 2] [--near]
 *                            [--only server/http/]
 *
 * Puts small faults into copies of the code and runs the tests: first those closest to each fault,
 * then all tests on several of the remaining faults at once, and finally each of these faults alone
 * with the tests that failed. A fault counts as noticed if a test fails, fails again when run
 * alone, and passes without the fault; or if a test hangs. Faults that the type check rejects are
 * not drawn. tests/tidy.test.ts does not run, because it checks the text, not the behaviour. With
 * `--near`, only the tests of the changed part run, which is stricter and faster. Exits with 1 if
 * fewer than `--limit` percent are noticed.
 *
 * set-aside.json lists faults without an observable effect, each with the reason.
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

/** The number of faults that all tests run on at once. */
const maxGroup = 6;

type SetAside = Pick<Fault, 'path' | 'before' | 'after'> & { reason: string };

const files = (await $`git ls-files -co --exclude-standard`.cwd(root).text()).trim().split('\n');
const isCode = new Glob(`{server,sdk,cli}/**/*.ts`);
const code = files.filter((path) => isCode.match(path) && !path.endsWith('.d.ts'));
const tests = files.filter(
  (path) =>
    path.endsWith('.test.ts') && !path.startsWith('tests/tidy') && !path.startsWith('tests/mutate'),
);
const setAside: SetAside[] = await Bun.file(join(import.meta.dir, 'set-aside.json')).json();

const faults = await drawFaults(
  Number(values.seed),
  Number(values.count),
  code.filter((path) => path.startsWith(values.only)),
);
const counted = faults.filter((fault) => !isSetAside(fault));
console.log(
  `seed ${values.seed}: ${faults.length} faults, ${faults.length - counted.length} set aside`,
);

const order = await createOrder(tests);
const survivors = new Set(counted);
// All faults go through their closest tests first, so that most results are known early.
for (const stage of values.near ? [0, 1, 2] : [0, 1]) {
  await runEach([...survivors], (fault) => order(fault, fault.text)[stage] ?? []);
  reportStage(`stage ${stage + 1}`);
}
if (!values.near) {
  for (const group of groupsOf([...survivors])) {
    await using copy = createCopy(files, group);
    const failing = (await copy.failing(tests)) ?? tests;
    console.log(`${group.length} faults at once: ${failing.length} test files fail`);
    await runEach(group, () => failing);
  }
  reportStage('all tests');
}
for (const room of new Set(counted.map(({ path }) => roomOf(path)).sort())) {
  reportRate(room, (fault) => roomOf(fault.path) === room);
}
const rate = reportRate('all', () => true);
if (rate < Number(values.limit)) {
  console.log(`less than ${values.limit} % were noticed`);
  process.exitCode = 1;
}

/** Runs the chosen tests on each fault alone, several at a time. */
async function runEach(waiting: Fault[], choose: (fault: Fault) => string[]): Promise<void> {
  async function work(): Promise<void> {
    for (let fault = waiting.shift(); fault !== undefined; fault = waiting.shift()) {
      const chosen = choose(fault);
      if (chosen.length === 0) continue;
      await using copy = createCopy(files, [fault]);
      const by = await copy.noticedBy(chosen);
      if (by === null) continue;
      survivors.delete(fault);
      console.log(`noticed by ${by}: ${shown(fault)}`);
    }
  }
  await Promise.all(Array.from({ length: Number(values.jobs) }, work));
}

/** Groups faults of different files. A group is small, because one fault may hide another. */
function groupsOf(ungrouped: Fault[]): Fault[][] {
  const groups: Fault[][] = [];
  for (const fault of ungrouped) {
    const fits = (group: Fault[]) =>
      group.length < maxGroup && group.every(({ path }) => path !== fault.path);
    const group = groups.find(fits);
    if (group === undefined) groups.push([fault]);
    else group.push(fault);
  }
  return groups;
}

function reportStage(name: string): void {
  console.log(`after ${name}: ${survivors.size} of ${counted.length} not noticed`);
  for (const fault of survivors) console.log(`  ${shown(fault)}`);
}

function shown({ path, line, before, after }: Fault): string {
  return `${path}:${line}: ${before} → ${after}`;
}

function reportRate(name: string, belongs: (fault: Fault) => boolean): number {
  const all = counted.filter(belongs);
  const noticed = all.filter((fault) => !survivors.has(fault)).length;
  const percent = (100 * noticed) / all.length;
  console.log(`${name}: ${noticed} of ${all.length} noticed, ${percent.toFixed(0)} %`);
  return percent;
}

function isSetAside({ path, before, after }: Fault): boolean {
  return setAside.some(
    (known) => known.path === path && known.before === before && known.after === after,
  );
}
