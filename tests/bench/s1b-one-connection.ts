import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Benchmark, Context } from './kit/benchmark.ts';
import { atLeast } from './kit/goals.ts';
import { type Figures, rateRatio } from './kit/measured-load.ts';
import { measureSaves, type SaveSubject, savesTable } from './s1-save.ts';

/**
 * The measurements are short, because other load on the machine changes within seconds and affects
 * a single client most.
 */
const full = { starts: 5, rounds: 20, warmUps: 3, seconds: 0.15 };
const quick = { starts: 1, rounds: 15, warmUps: 2, seconds: 0.1 };

/** Durable saves by a single client, which cannot share a commit with other clients. */
export const saveAlone: Benchmark = {
  ids: ['S1b'],
  title: 'Durable saves by one client',
  async run(context) {
    const { starts, ...timing } = context.quick ? quick : full;
    const figures = await measureStarts(context, starts, timing);
    const measure = 'saves, one connection: relative to a bare server with one commit per request';
    const baseline = rateRatio(figures, 'baseline', 'bare');
    const each = `${timing.rounds} rounds of ${timing.seconds} s`;
    return {
      goals: [atLeast('S1b', measure, rateRatio(figures, 'service', 'bare'), 0.65, { baseline })],
      tables: [savesTable(figures, `one connection, ${each} in each of ${starts} process starts`)],
    };
  },
};

/** Restarts the processes `starts` times, because figures differ between starts. */
async function measureStarts(
  context: Context,
  starts: number,
  timing: Omit<typeof full, 'starts'>,
): Promise<Figures<SaveSubject>> {
  const names: SaveSubject[] = ['ceiling', 'service', 'bare', 'baseline'];
  if (!context.quick) names.push('singleCommit');
  const figures: Figures<SaveSubject> = {};
  for (let start = 0; start < starts; start += 1) {
    const folder = join(context.folder, `start-${start}`);
    mkdirSync(folder);
    // A subject may leave the disk busy, so each start has another order.
    const order = [...names.slice(start), ...names.slice(0, start)];
    const measured = await measureSaves({ ...context, folder }, order, 1, timing);
    rmSync(folder, { recursive: true });
    for (const name of names) {
      figures[name] = [...(figures[name] ?? []), ...(measured[name] ?? [])];
    }
  }
  return figures;
}
