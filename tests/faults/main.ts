import { join } from 'node:path';
import { harnesses } from './all.ts';
import type { Finding, Harness, RunOptions } from './harness.ts';
import { holds, type Result, writePage } from './report.ts';

/*
 *   bun tests/faults/main.ts [--full] [--control] [--no-page] [P1 P5 …]
 *
 * Runs the named harnesses, or all. `--full` takes the full size and writes docs/reliability.md;
 * `--control` runs the controls alone. FAULTS_SEED repeats a run.
 */
const args = process.argv.slice(2);
const names = args.filter((arg) => !arg.startsWith('--'));
const tier = args.includes('--full') ? 'full' : 'quick';
const seed = Number(process.env.FAULTS_SEED ?? Math.floor(Math.random() * 2 ** 31));
const page = join(import.meta.dir, '../../docs/reliability.md');

// So that the processes of a run that is cut short end with it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));

const chosen = harnesses.filter(({ id }) => names.length === 0 || names.includes(id));
if (chosen.length === 0) throw new Error(`none of ${names.join(' ')} is a harness`);
console.log(`seed ${seed}; FAULTS_SEED=${seed} repeats this run`);

const results: Result[] = [];
for (const harness of chosen) results.push(await prove(harness));
if (tier === 'full' && !args.includes('--control') && !args.includes('--no-page')) {
  writePage(page, results);
}
if (!results.every(holds)) process.exitCode = 1;

async function prove(harness: Harness): Promise<Result> {
  const begun = performance.now();
  const nothing: Finding = {
    figures: {},
    violations: [],
    skipped: 'only the control was asked for',
  };
  const onlyControl = args.includes('--control');
  const finding = onlyControl ? nothing : await attempt(harness, { seed, tier, variants: [] });
  const variants = harness.control?.variants ?? [];
  const withControl = variants.length > 0 && (onlyControl || tier === 'full');
  const control = withControl ? await attempt(harness, { seed, tier: 'quick', variants }) : null;
  // It has to find what is broken, and not to be broken itself.
  if (control?.fellOver === true) finding.violations.push(...control.violations);
  const durationMs = performance.now() - begun;
  const result = { harness, seed, tier, finding, control, durationMs } satisfies Result;
  show(result);
  return result;
}

/** A harness that falls over has not proved its promise. */
async function attempt(harness: Harness, options: RunOptions): Promise<Finding> {
  try {
    return await harness.run(options);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return { figures: {}, violations: [`the run fell over: ${text}`], fellOver: true };
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
  for (const violation of finding.violations) console.log(`  broken: ${violation}`);
  if (control === null) return;
  if (control.skipped !== undefined) console.log(`  !!! CONTROL NOT RUN: ${control.skipped}`);
  console.log(
    `  control (without: ${harness.control?.without}): ${control.violations.length} found`,
  );
  console.log(`    ${JSON.stringify(control.figures)}`);
  for (const violation of control.violations.slice(0, 3)) console.log(`    ${violation}`);
}
