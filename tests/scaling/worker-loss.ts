import { newMemoryId } from '../../server/ids.ts';
import { openStorage } from '../../server/storage/open.ts';
import type { Storage } from '../../server/storage/storage.ts';
import { keyed, memory, newProject } from '../storage/fixtures.ts';
import { query } from '../support/postgres.ts';
import { until } from '../support/until.ts';

/*
 * Repeatedly kills and restarts a worker of a cluster under load. Afterwards, every acknowledged
 * save must be stored exactly once.
 *
 *   bun tests/scaling/worker-loss.ts <URL of a coordinator> <command that kills a worker>
 *     <command that starts it again> [--control]
 *
 * With --control, one client saves without idempotency keys. Each save is then a transaction on one
 * worker, and only its own COMMIT flushes that transaction to disk. If the workers have
 * synchronous_commit = off, some acknowledged saves are lost.
 */

const rounds = 5;
const clients = 16;
const users = 200;
const phaseMs = 3_000;
const recoveredWithinMs = 90_000;

type Save = { id: string; userId: string; key: string; content: string };
type Phase = 'before' | 'without' | 'after';

const isControl = process.argv.includes('--control');
const [url, killCommand, startCommand] = process.argv.slice(2);
if (url === undefined || killCommand === undefined || startCommand === undefined) {
  throw new Error('missing arguments: a URL and two commands');
}

const storage: Storage = await openStorage(url);
const project = await newProject({ storage });
const answered: Save[] = [];
const unanswered: Save[] = [];
const counts: Record<string, number> = {};
let phase: Phase = 'before';
let isStopping = false;

function count(what: string): void {
  counts[what] = (counts[what] ?? 0) + 1;
}

function run(command: string): void {
  const { exitCode, stderr } = Bun.spawnSync(['sh', '-c', command]);
  if (exitCode !== 0) throw new Error(`${command}: ${stderr}`);
}

const send = ({ id, userId, key, content }: Save) =>
  project.save(memory({ id, userId, content }), { idempotency: isControl ? null : keyed(key) });

async function client(): Promise<void> {
  while (!isStopping) {
    const userId = `user-${Math.floor(Math.random() * users)}`;
    const key = crypto.randomUUID();
    const save = { id: newMemoryId(), userId, key, content: `content of ${key}` };
    try {
      await send(save);
      answered.push(save);
      count(`${phase}: answered`);
    } catch (error) {
      unanswered.push(save);
      const isUnknown = String(error).includes('the outcome is unknown');
      count(`${phase}: ${isUnknown ? 'outcome unknown' : 'rejected'}`);
      if (!isUnknown && !String(error).includes('nothing was stored')) console.error(error);
      await Bun.sleep(20);
    }
  }
}

async function loseWorker(kill: string, start: string): Promise<void> {
  phase = 'before';
  await Bun.sleep(phaseMs);
  run(kill);
  phase = 'without';
  await Bun.sleep(phaseMs);
  run(start);
  phase = 'after';
  await Bun.sleep(phaseMs);
}

/**
 * Returns the number of prepared transactions on the workers. Their rows are not visible until the
 * workers commit them.
 */
async function prepared(coordinator: string): Promise<number> {
  const text = `SELECT sum(result::int)::int AS n FROM
    run_command_on_workers('SELECT count(*) FROM pg_prepared_xacts')`;
  return Number((await query(coordinator, text))[0]?.n);
}

async function problems(coordinator: string): Promise<string[]> {
  const found: string[] = [];
  for (const { id, content } of answered) {
    if ((await project.get(id))?.content !== content) found.push(`lost ${id}`);
  }
  if (isControl) return found;
  // Whether or not the first attempt was stored, a retry must result in exactly one memory.
  for (const save of unanswered) await send(save);
  const rows = await query(
    coordinator,
    `SELECT (SELECT count(*)::int FROM memories WHERE project_id = ${project.id}) AS memories,
       (SELECT count(*)::int FROM idempotency_keys WHERE project_id = ${project.id}) AS keys,
       (SELECT sum(memories)::int FROM users WHERE project_id = ${project.id}) AS counted`,
  );
  const saves = answered.length + unanswered.length;
  for (const [name, number] of Object.entries(rows[0] ?? {})) {
    if (number !== saves) found.push(`${name}: ${number} of ${saves}`);
  }
  return found;
}

const load = Array.from({ length: isControl ? 1 : clients }, client);
for (let round = 0; round < rounds; round += 1) await loseWorker(killCommand, startCommand);
isStopping = true;
await Promise.all(load);
const begun = performance.now();
await until(async () => (await prepared(url)) === 0, { timeoutMs: recoveredWithinMs });
console.log(counts);
console.log(`prepared transactions finished after ${Math.round(performance.now() - begun)} ms`);
const found = await problems(url);
console.log(
  `${answered.length} answered, ${unanswered.length} sent again, ${found.length} problems`,
);
for (const problem of found.slice(0, 20)) console.log(problem);
await storage.close();
process.exit(found.length === 0 ? 0 : 1);
