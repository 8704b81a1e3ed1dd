import { Database } from 'bun:sqlite';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Benchmark, Context } from './kit/benchmark.ts';
import { load } from './kit/load.ts';
import { short } from './kit/numbers.ts';
import { serviceEnv, startSubject } from './kit/process.ts';
import { keyedSaves, saves } from './kit/requests.ts';

const contentBytes = 100;
const most = 7;
/** A single page of an empty index is nobody's. */
const leastShown = 5;

/** What the disk holds for each memory, beside what was to be remembered. */
export const bytes: Benchmark = {
  ids: ['S10'],
  title: 'Bytes stored',
  async run(context) {
    const plain = await store(context, 'plain', saves());
    const keyed = await store(context, 'keyed', keyedSaves());
    const head = ['stored for', 'bytes a memory', 'of the content'];
    const parts = [...plain.parts, ...keyed.parts.filter(([name]) => name.startsWith('answers'))];
    const rows = parts.map(([name, size]) => [name, short(size), (size / contentBytes).toFixed(2)]);
    const title =
      'By table and index. The answers to idempotency keys are kept for three days, and only ' +
      'where keys are sent.';
    return {
      goals: [
        {
          id: 'S10',
          measure: 'stored bytes of a saved memory, of its 100 bytes of content',
          goal: `≤ ${most}`,
          figure: `${plain.each.toFixed(2)} (${keyed.each.toFixed(2)} while its key is kept)`,
          met: plain.each <= most,
        },
      ],
      tables: [{ title, head, rows }],
    };
  },
};

async function store({ folder, seconds }: Context, name: string, next: () => Uint8Array) {
  const path = join(folder, `bytes-${name}.db`);
  const databaseUrl = `sqlite:${path}`;
  const service = await startSubject('service', folder, { databaseUrl, env: serviceEnv });
  await load({ url: service.url, connections: 64, seconds: seconds * 2, next });
  await service.stop();
  const db = new Database(path, { readonly: true });
  const { count } = db.prepare('SELECT count(*) AS count FROM memories').get() as {
    count: number;
  };
  const parts = db
    .prepare('SELECT name, sum(pgsize) AS bytes FROM dbstat GROUP BY name ORDER BY 2 DESC')
    .all() as { name: string; bytes: number }[];
  db.close();
  return {
    each: statSync(path).size / count / contentBytes,
    parts: parts
      .map(({ name, bytes }): [string, number] => [name, bytes / count])
      .filter(([, size]) => size >= leastShown),
  };
}
