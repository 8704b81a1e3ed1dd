/*
 * Every line of the list of goals, measured on this machine.
 *
 *   bun tests/bench/main.ts [--quick] [S1 S3 …]
 *                           [--write] [--out=folder] [--data=folder] [--most=count]
 *
 * A full run writes docs/performance.md and its charts; a quick or partial one only where it is
 * told to, by --write or --out. --data keeps the filled databases for the next run, and decides
 * which disk is measured; --most leaves out tables larger than that.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Benchmark, Context, Section } from './kit/benchmark.ts';
import { createDatabases } from './kit/databases.ts';
import { describeMachine, watchHost } from './kit/machine.ts';
import { killAll } from './kit/process.ts';
import { plain, type Report, write } from './kit/report.ts';
import { beside } from './rivals.ts';
import { generator } from './s0-generator.ts';
import { save } from './s1-save.ts';
import { list } from './s3-list.ts';
import { growth } from './s4-growth.ts';
import { ingest } from './s5-ingest.ts';
import { search } from './s6-search.ts';
import { mixed } from './s7-mixed.ts';
import { startUp } from './s8-start.ts';
import { commandLine } from './s9-cli.ts';
import { bytes } from './s10-bytes.ts';

const benchmarks: Benchmark[] = [
  generator,
  save,
  list,
  growth,
  ingest,
  search,
  mixed,
  startUp,
  commandLine,
  bytes,
  beside,
];

const full = { quick: false, rounds: 5, seconds: 2, sizes: [1e4, 1e5, 1e6, 1e7], size: 1e6 };
const quick = { quick: true, rounds: 5, seconds: 0.15, sizes: [1e4, 1e5], size: 1e5 };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  allowNegative: true,
  options: {
    quick: { type: 'boolean' },
    write: { type: 'boolean' },
    out: { type: 'string' },
    data: { type: 'string' },
    most: { type: 'string' },
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
    console.log(plain(report));
    const whole = chosen.length === benchmarks.length && !values.quick;
    if (values.write ?? (whole || values.out !== undefined)) {
      write(report, values.out ?? join(import.meta.dir, '../../docs'));
    }
  } finally {
    killAll();
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function measure(chosen: Benchmark[], scratch: string): Promise<Report> {
  const context = createContext(scratch);
  const machine = await describeMachine(scratch);
  const hostTook = watchHost();
  const sections: Report['sections'] = [];
  for (const benchmark of chosen) {
    const begun = performance.now();
    context.say(`${benchmark.ids.join(', ')}: ${benchmark.title}`);
    sections.push({ title: benchmark.title, section: await attempt(benchmark, context) });
    context.say(`  ${Math.round((performance.now() - begun) / 1_000)} s`);
  }
  const { rounds, seconds } = context;
  const how = `${values.quick ? 'A quick run: ' : ''}${rounds} rounds of ${seconds} s.`;
  return { machine: [...machine, hostTook()], how, sections };
}

/** One that fails must not cost what the others have measured. */
async function attempt(benchmark: Benchmark, context: Context): Promise<Section> {
  try {
    return await benchmark.run(context);
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
    return { goals: [], tables: [], notes: [`This did not run: ${error}`] };
  }
}

function createContext(folder: string): Context {
  const mode = values.quick ? quick : full;
  const most = Number(values.most ?? Number.POSITIVE_INFINITY);
  const say = (text: string) => console.error(text);
  const kept = values.data ?? join(folder, 'filled');
  return {
    ...mode,
    sizes: mode.sizes.filter((size) => size <= most),
    size: Math.min(mode.size, most),
    folder,
    say,
    ...createDatabases(kept, folder, say),
  };
}

process.on('SIGINT', () => {
  killAll();
  process.exit(130);
});
await run();
