import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { watchStarvation } from '../../server/threads/starvation.ts';
import { until } from '../support/until.ts';

/** The watchdog ends a thread that has been silent for this long. */
const silentMs = 1_600;

const isPossible = process.platform === 'linux' && Bun.which('taskset') !== null;

test.skipIf(!isPossible)(
  'a thread that waits for a CPU core is not treated as silent',
  async () => {
    const [, core = ''] = /^Cpus_allowed_list:\s*(\d+)/m.exec(status()) ?? [];
    const program = join(import.meta.dir, 'starved.ts');
    const child = Bun.spawn(['taskset', '-c', core, process.execPath, program]);
    expect(Number(await new Response(child.stdout).text())).toBeGreaterThan(silentMs);
  },
);

test.skipIf(process.platform !== 'linux')(
  'a thread that uses a core does not count as waiting for one',
  async () => {
    // The function reads the main thread of this process, which is busy in each round.
    const isStarved = watchStarvation(String(process.pid));
    const hasCore = () => {
      const begun = performance.now();
      while (performance.now() - begun < 200);
      return !isStarved();
    };
    await until(hasCore, { what: 'a core' });
  },
);

function status(): string {
  return readFileSync('/proc/self/status', 'utf8');
}
