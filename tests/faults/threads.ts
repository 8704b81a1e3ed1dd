import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { send } from './api.ts';
import { type Figures, type Harness, type Run, skipIf } from './harness.ts';
import { createTarget, type Target } from './target.ts';
import { type Case, hungAfterMs, noTotals, runFault } from './thread-fault-run.ts';
import { folderSetting, startedThreads, type ThreadFault } from './thread-faults.ts';
import { countLost, type Save } from './traffic/saves.ts';

/**
 * The faults injected into every thread. Faults around the writer's COMMIT are injected afterwards.
 */
const everywhere: Record<'quick' | 'full', ThreadFault['what'][]> = {
  quick: ['exit', 'loop'],
  full: ['exit', 'throw', 'loop', 'block'],
};
const rounds = { quick: 1, full: 2 };
const writer = 'writer';

export const threads: Harness = {
  id: 'P30',
  promise:
    'A thread that exits ends the service at once with the reason; one that hangs makes /health ' +
    'fail within two seconds and ends the service later; no request hangs, and no acknowledged ' +
    'write is lost',
  proof:
    'each thread exits, throws an exception, or blocks forever in a loop or in a system call, at ' +
    'random moments while clients save, list and search; the writer also exits or blocks before ' +
    'and after COMMIT; a hang must end the service after 6 s instead of 30 s; afterwards the ' +
    'stored memories are compared with the acknowledged saves',
  control: { without: 'the monitoring of threads', variants: ['no-thread-watch'] },
  run,
};

async function run({ tier, variants, random, violations, folder }: Run): Promise<Figures> {
  skipIf(process.platform === 'linux' ? null : 'reading the names of threads requires /proc');
  await using target = createTarget({
    variants,
    preload: [join(import.meta.dir, 'thread-faults.ts')],
    processEnv: { [folderSetting]: folder },
    hungAfterMs,
    env: { LOG_LEVEL: 'warn' },
  });
  const totals = { ...noTotals };
  const all: Save[] = [];
  await startEveryThread(target);
  const names = runningThreads(target.pid, folder);
  if (names.length === 0) violations.add('no thread loaded the preload module');
  for (const { name, fault } of casesFor(names, tier)) {
    all.push(...(await runFault({ target, folder, name, fault, random, violations, totals })));
    await startEveryThread(target);
  }
  const lost = names.length === 0 ? 0 : await countLost(target, all, violations, 'at the end');
  return { threads: names.join(' ') || 'none', ...totals, lost };
}

/** Starts the server. Some threads start only when a request needs them. */
async function startEveryThread(target: Target): Promise<void> {
  await target.start();
  await send(target, { method: 'GET', path: '/v1/memories/search?userId=one&query=x' });
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  await send(target, { method: 'POST', path: '/mcp/users/one', body });
  await Bun.sleep(300);
}

function casesFor(names: string[], tier: 'quick' | 'full'): Case[] {
  const idle = names.flatMap((name) =>
    everywhere[tier].map((what): Case => ({ name, fault: { what, when: 'idle' } })),
  );
  const whats: ThreadFault['what'][] = tier === 'full' ? ['exit', 'loop', 'block'] : ['block'];
  const inWrites = (names.includes(writer) ? whats : []).flatMap((what): Case[] => [
    { name: writer, fault: { what, when: 'before COMMIT' } },
    { name: writer, fault: { what, when: 'after COMMIT' } },
  ]);
  const once = [...idle, ...(tier === 'full' ? inWrites : inWrites.slice(0, 1))];
  return Array.from({ length: rounds[tier] }, () => once).flat();
}

/** Returns the registered threads that are still running. Short-lived threads may have exited. */
function runningThreads(pid: number, folder: string): string[] {
  const tasks = readdirSync(`/proc/${pid}/task`);
  const running = tasks.map((id) => readFileSync(`/proc/${pid}/task/${id}/comm`, 'utf8').trim());
  const names = new Set(startedThreads(folder));
  return [...names].filter((name) => running.includes(name)).sort();
}
