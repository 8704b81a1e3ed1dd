import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryClient } from '../../sdk/index.ts';
import { emptyDatabase } from '../support/backend.ts';
import { startChild } from '../support/process.ts';
import { until } from '../support/until.ts';

/* A service in its own process, which ends if a thread hangs, but not if it has no core. */

const apiKey = 'threads-test-key-0123456789';

type Options = {
  hungAfterMs: number;
  under?: string[];
  env?: Record<string, string>;
  database?: Awaited<ReturnType<typeof emptyDatabase>>;
};

async function start({ hungAfterMs, under = [], env = {}, ...options }: Options) {
  const database = options.database ?? (await emptyDatabase());
  const child = startChild([...under, process.execPath, join(import.meta.dir, 'service.ts')], {
    DATABASE_URL: database.url,
    HUNG_AFTER_MS: String(hungAfterMs),
    API_KEY: apiKey,
    ...env,
  });
  return {
    child,
    database,
    client: new MemoryClient({ apiKey, baseUrl: await child.ready, maxRetries: 0 }),
    async [Symbol.asyncDispose]() {
      await child.end('SIGKILL');
      await database.remove();
    },
  };
}

test.concurrent('a process continues after it was suspended, and is killed if its HTTP thread hangs', async () => {
  const hungAfterMs = 2_000;
  await using running = await start({ hungAfterMs });
  const { child, client } = running;
  await client.save({ userId: 'u', content: 'a lantern' });
  child.signal('SIGSTOP');
  await Bun.sleep(2 * hungAfterMs);
  child.signal('SIGCONT');
  const { items } = await client.search({ userId: 'u', query: 'lantern' });
  expect(items).toHaveLength(1);
  await client.save({ userId: 'u', content: 'another lantern' });
  expect((await client.health()).status).toBe('ok');
  expect(child.log()).toBe('');
  child.signal('SIGUSR2');
  // A signal ended the process, so it has no exit code.
  expect(await child.exited).toBeNull();
  expect(child.log()).toContain('the HTTP thread does not respond; the service is exiting');
});

/** Makes a program's log a full pipe that nobody reads. */
const fillLog = `exec 2> >(trap '' USR2; exec sleep 60); head -c 65536 /dev/zero >&2; exec "$@"`;
const withFullLog = ['bash', '-c', fillLog, 'bash'];

test.concurrent('a process whose HTTP thread hangs is killed, even if nobody reads its log', async () => {
  await using running = await start({ hungAfterMs: 2_000, under: withFullLog });
  running.child.signal('SIGUSR2');
  expect(await running.child.exited).toBeNull();
});

test.concurrent.each([
  ['writer', 'exit', 'exited'],
  ['writer', 'block', 'does not respond'],
])(
  'if the %s thread fails under load (%s), the process ends without losing a save',
  async (thread, what, reason) => {
    await using running = await start({ hungAfterMs: 3_000, env: { THREAD: thread, FAULT: what } });
    const { child, client, database } = running;
    const saved: string[] = [];
    let slowestMs = 0;
    const save = async (): Promise<void> => {
      while (child.running()) {
        const begun = performance.now();
        const memory = await client.save({ userId: 'u', content: 'x' }).catch(() => null);
        slowestMs = Math.max(slowestMs, performance.now() - begun);
        if (memory !== null) saved.push(memory.id);
        else await Bun.sleep(20);
      }
    };
    const clients = [1, 2, 3, 4, 5, 6].map(save);
    await until(() => saved.length > 20, { what: 'saves' });
    child.signal('SIGUSR1');
    expect(await child.exited).toBe(1);
    expect(child.log()).toContain(`the ${thread} thread ${reason}`);
    await Promise.all(clients);
    expect(slowestMs).toBeLessThan(4_000);
    await using again = await start({ hungAfterMs: 3_000, database });
    for (const id of saved) expect(await again.client.get(id)).toMatchObject({ content: 'x' });
  },
);

const isPossible = process.platform === 'linux' && Bun.which('taskset') !== null;

test.skipIf(!isPossible)(
  'a service that shares one core with busy programs continues',
  async () => {
    const [, core = ''] = /^Cpus_allowed_list:\s*(\d+)/m.exec(status()) ?? [];
    const under = ['taskset', '-c', core];
    const hungAfterMs = 3_000;
    await using running = await start({ hungAfterMs, under });
    const { child, client } = running;
    // Building the index for the first search takes longer than a ping may take.
    const content = 'a lantern in the attic '.repeat(350);
    const save = () => client.save({ userId: 'u', content });
    for (let n = 0; n < 10; n += 1) await Promise.all(Array.from({ length: 50 }, save));
    const busy = Array.from({ length: 4 }, () => {
      return startChild([...under, 'sh', '-c', 'while :; do :; done']);
    });
    try {
      const begun = performance.now();
      while (performance.now() - begun < 1.1 * hungAfterMs) {
        await save();
        await client.search({ userId: 'u', query: 'lantern' });
      }
    } finally {
      for (const one of busy) await one.end('SIGKILL');
    }
    expect(child.log()).toBe('');
  },
);

function status(): string {
  return readFileSync('/proc/self/status', 'utf8');
}
