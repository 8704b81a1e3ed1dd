import { readFileSync, writeFileSync } from 'node:fs';
import { send } from './api.ts';
import {
  createViolations,
  type Finding,
  type Harness,
  type RunOptions,
  type Violations,
} from './harness.ts';
import { createTarget, type Target } from './target.ts';
import { type Body, hostileBodies } from './traffic/bodies.ts';
import { type Burst, startBursts } from './traffic/burst.ts';
import { percentile, probe } from './traffic/probe.ts';

/** How often each body is sent alone, and how often sixteen of them at once. */
const rounds = { quick: { alone: 3, together: 1 }, full: { alone: 20, together: 5 } };
const together = 16;
const everyMs = 4;
const stallMs = 50;
/** Bodies that may be looked at between two looks at the connections. */
const inOneTurn = 4;
const allowedMegabytes = 256;

export const hostile: Harness = {
  id: 'P24',
  promise:
    'No body, accepted or refused, costs more than 50 ms on the thread that serves others, nor ' +
    'unbounded memory',
  proof:
    `bodies of 5 MiB (${Object.keys(hostileBodies).join(', ')}), alone and ${together} at once; ` +
    'the longest wait of another connection for /health/live, and peak memory from /proc',
  control: { without: 'a quick parser', variants: ['slow-parse'] },
  run,
};

async function run({ tier, variants }: RunOptions): Promise<Finding> {
  if (process.platform !== 'linux') {
    return { figures: {}, violations: [], skipped: 'peak memory is read from /proc' };
  }
  const violations = createViolations();
  const target = createTarget({ variants });
  const bursts = startBursts();
  try {
    await target.start();
    const path = await bareRoute(target);
    const idleStallMs = await longestWait(target, path, 1_000);
    const idleMegabytes = memoryOf(target.pid, 'VmRSS');
    const figures: Finding['figures'] = { route: path, idleStallMs, idleMegabytes };
    for (const [name, make] of Object.entries(hostileBodies)) {
      const body = make();
      const attack = { target, path, violations, name, body, burst: bursts.send };
      const alone = await attackWith(attack, 1, rounds[tier].alone);
      const all = await attackWith(attack, together, rounds[tier].together);
      const megabytes = all.peakMegabytes - idleMegabytes;
      if (megabytes > allowedMegabytes) violations.add(`${name}: memory grew by ${megabytes} MB`);
      figures[name] =
        `alone ${alone.stallMs} ms, ${together} at once ${all.stallMs} ms and ${megabytes} MB ` +
        `(${all.statuses})`;
    }
    return { figures, violations: violations.list() };
  } finally {
    bursts.end();
    await target.remove();
  }
}

type Attack = {
  target: Target;
  path: string;
  violations: Violations;
  name: string;
  body: Body;
  burst: Burst;
};

async function attackWith(attack: Attack, atOnce: number, times: number) {
  const { target, path, violations, name, body, burst } = attack;
  forgetPeak(target.pid);
  const waits: number[] = [];
  const statuses = new Set<number>();
  for (let round = 0; round < times; round += 1) {
    const sent = burst({ url: target.url, key: target.key, body, atOnce });
    waits.push(await longestWait(target, path, sent));
    for (const status of await sent) statuses.add(status);
    await Bun.sleep(50);
  }
  // Of several rounds with one body the middle one: what else runs on the machine is not its cost.
  const stall = atOnce === 1 ? percentile(waits, 0.5) : Math.max(...waits);
  const limitMs = atOnce === 1 ? stallMs : stallMs * inOneTurn;
  if (stall > limitMs) violations.add(`${name}, ${atOnce} at once: others waited ${stall} ms`);
  for (const status of statuses) {
    const expected = body.accepted ? [202, 413, 429, 503] : [400, 413, 429, 503];
    if (!expected.includes(status)) violations.add(`${name} was answered ${status || 'nothing'}`);
  }
  const peakMegabytes = memoryOf(target.pid, 'VmHWM');
  return { stallMs: stall, peakMegabytes, statuses: [...statuses].join() };
}

/** A route that costs nothing by itself. */
async function bareRoute(target: Target): Promise<string> {
  const live = await send(target, { method: 'GET', path: '/health/live' });
  return live?.status === 200 ? '/health/live' : '/v1/memories/none';
}

async function longestWait(target: Target, path: string, during: number | Promise<unknown>) {
  const calls = { bare: () => ({ method: 'GET' as const, path }) };
  const { bare } = await probe(target, calls, { everyMs, during });
  return Math.round(Math.max(0, ...(bare?.latenciesMs ?? [])));
}

function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const found = new RegExp(`${field}:\\s+(\\d+) kB`).exec(
    readFileSync(`/proc/${pid}/status`, 'utf8'),
  );
  return Math.round(Number(found?.[1]) / 1_024);
}

/** The peak begins again at what is in use now. */
function forgetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // Then a later kind shows the peak of an earlier one, which is still a bound.
  }
}
