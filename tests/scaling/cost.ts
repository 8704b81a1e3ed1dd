import { readdirSync, readFileSync } from 'node:fs';
import { newMemoryId } from '../../server/ids.ts';
import { openStorage } from '../../server/storage/open.ts';
import { keyed, memory, record } from '../storage/fixtures.ts';
import { query } from '../support/postgres.ts';
import { inParallel } from './in-parallel.ts';

/*
 * Measures the cost of a memory: the bytes in each table, and the CPU time of a save in this
 * process and in each database server. All servers must run on this machine.
 *
 *   bun tests/scaling/cost.ts <URL of the database> [<URL of a worker>…]
 */

const users = 1_000;
const saves = 40_000;
const records = 10_000;
const batch = 20;
const clients = 64;
const contentLength = 115;
/** USER_HZ, the unit of the CPU times in /proc. */
const ticksPerSecond = 100;

const tables = ['memories', 'users', 'idempotency_keys', 'tasks'];
const words = 'the delivery of order invoice was late and customer wrote about weather'.split(' ');

const [url, ...workerUrls] = process.argv.slice(2);
if (url === undefined) throw new Error('missing argument: the URL of the database');
const storage = await openStorage(url);
const projectId = await storage.ensureProject(`cost ${crypto.randomUUID()}`);

function newContent(): string {
  let text = '';
  while (text.length < contentLength) {
    text += `${words[Math.floor(Math.random() * words.length)]} `;
  }
  return text.slice(0, contentLength);
}

const newFields = (index: number) => {
  const userId = `user-${index % users}`;
  return { id: newMemoryId(), userId, content: newContent() };
};

/** Returns the CPU time of a server and its child processes, in seconds. */
function processorSeconds(server: number): number {
  let ticks = 0;
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const fields = statOf(name);
    if (Number(name) !== server && Number(fields[1]) !== server) continue;
    // The CPU time of exited processes is included in the times of their parent.
    const ended = Number(name) === server ? Number(fields[13]) + Number(fields[14]) : 0;
    ticks += Number(fields[11]) + Number(fields[12]) + ended;
  }
  return ticks / ticksPerSecond;
}

/** Returns the fields after the name (state, parent, …), or none if the process has exited. */
function statOf(name: string): string[] {
  try {
    return readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  } catch {
    return [];
  }
}

async function serverOf(address: string): Promise<number> {
  const [row] = await query(address, 'SELECT pg_backend_pid() AS pid');
  return Number(statOf(String(row?.pid))[1]);
}

async function measured(name: string, count: number, run: () => Promise<void>): Promise<void> {
  const servers = await Promise.all([url ?? '', ...workerUrls].map(serverOf));
  const before = servers.map(processorSeconds);
  const own = process.cpuUsage();
  await run();
  const used = process.cpuUsage(own);
  const each = servers.map((server, index) => processorSeconds(server) - (before[index] ?? 0));
  const micros = [(used.user + used.system) / count, ...each.map((s) => (s * 1e6) / count)];
  console.log(`${name}: µs of this process, then of each server: ${micros.map(Math.round)}`);
}

async function bytesPerRow(address: string): Promise<void> {
  for (const table of tables) {
    await query(address, `VACUUM ${table}`);
    const [row] = await query(
      address,
      `SELECT count(*)::int AS rows, pg_table_size('${table}')::int8 AS heap,
         pg_indexes_size('${table}')::int8 AS indexes FROM ${table}`,
    );
    const rows = Number(row?.rows);
    const [heap, indexes] = [row?.heap, row?.indexes].map((size) =>
      Math.round(Number(size) / rows),
    );
    console.log(`${table}: ${rows} rows, each ${heap} bytes, plus ${indexes} bytes of indexes`);
  }
}

await inParallel(2_000, clients, (index) =>
  storage.saveMemory({ projectId, at: 1, idempotency: null, memory: memory(newFields(index)) }),
);
await measured('keyed save', saves, () =>
  inParallel(saves, clients, (index) => {
    const idempotency = keyed(crypto.randomUUID());
    const at = Date.now();
    return storage.saveMemory({ projectId, at, idempotency, memory: memory(newFields(index)) });
  }),
);
await measured(`record, ${batch} at a time`, records, () =>
  inParallel(records / batch, clients, (index) => {
    const list = Array.from({ length: batch }, () => record(newFields(index)));
    const all = { indexes: [...list.keys()], failed: [] };
    const at = Date.now();
    return storage.acceptRecords({ projectId, at, idempotency: null, records: list, batch: all });
  }),
);
if (workerUrls.length === 0) await bytesPerRow(url);
await storage.close();
process.exit(0);
