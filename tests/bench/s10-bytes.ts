import { Database } from 'bun:sqlite';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Benchmark, Context } from './kit/benchmark.ts';
import { atMost } from './kit/goals.ts';
import { load } from './kit/load.ts';
import { short, spreadOf } from './kit/numbers.ts';
import { keyedSaves, type NextRequest, saves } from './kit/requests.ts';
import { startService } from './kit/service.ts';
import type { Tree } from './kit/trees.ts';

const contentBytes = 100;
const most = 7;
/**
 * The smallest table or index that is shown, in bytes per memory. An empty table or index is a
 * single page, which stays below this limit.
 */
const leastShown = 5;

/** Bytes per memory, of each table and index and of the whole file. */
type Stored = { each: number; parts: Map<string, number> };

/** The size of the database per memory. */
export const bytes: Benchmark = {
  ids: ['S10'],
  title: 'Bytes stored',
  async run(context) {
    const { current, baseline } = context;
    const unkeyed = await store(context, current, saves());
    const keyed = await store(context, current, keyedSaves());
    const older = await store(context, baseline, saves());
    const ratio = ({ each }: Stored) => spreadOf([each / contentBytes]);
    const measure = 'stored bytes per memory: relative to its 100 bytes of content';
    const names = [...new Set([...keyed.parts.keys(), ...unkeyed.parts.keys()])];
    const cell = ({ parts }: Stored, name: string) => short(parts.get(name) ?? 0);
    const rows = names.map((name) => [name, cell(unkeyed, name), cell(keyed, name)]);
    return {
      goals: [atMost('S10', measure, ratio(unkeyed), most, { baseline: ratio(older) })],
      tables: [
        {
          title: 'Bytes per memory by table and index, with and without idempotency keys',
          head: ['table or index', 'saves without keys', 'saves with keys'],
          rows: [...rows, ['the whole file', short(unkeyed.each), short(keyed.each)]],
        },
      ],
    };
  },
};

async function store({ folder, seconds }: Context, tree: Tree, next: NextRequest): Promise<Stored> {
  const path = join(folder, `bytes-${crypto.randomUUID()}.db`);
  const service = await startService(folder, { tree, database: path });
  const { requests } = await load({
    url: service.url,
    connections: 64,
    seconds: seconds * 2,
    next,
  });
  await service.stop();
  const db = new Database(path);
  db.run('PRAGMA wal_checkpoint(TRUNCATE)');
  const sizes = db
    .prepare('SELECT name, sum(pgsize) AS bytes FROM dbstat GROUP BY name ORDER BY 2 DESC')
    .all() as { name: string; bytes: number }[];
  db.close();
  const parts = sizes
    .map(({ name, bytes }): [string, number] => [name, bytes / requests])
    .filter(([, size]) => size >= leastShown);
  return { each: statSync(path).size / requests, parts: new Map(parts) };
}
