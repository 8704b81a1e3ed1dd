import { writeFileSync } from 'node:fs';
import type { Accepted } from '../../sdk/contract/ingest.ts';
import { openLoop } from '../bench/kit/load.ts';
import { median } from '../bench/kit/numbers.ts';
import { requestBytes } from '../bench/kit/requests.ts';
import { memoryBytes } from '../support/process.ts';
import { send } from './api.ts';
import { type Figures, type Harness, type Run, skipIf, type Violations } from './harness.ts';
import { createTarget, type Target } from './target.ts';
import { type Body, getCall, hostileBodies } from './traffic/bodies.ts';
import { startSender } from './traffic/sender.ts';

const concurrent = 16;
const rounds = { quick: { alone: 3, together: 2 }, full: { alone: 15, together: 5 } };
const probesPerSecond = 250;
const maxStallMs = 50;
/**
 * How many of the concurrent bodies the server may parse before it handles the next trivial
 * request.
 */
const maxParsedTogether = 4;
const maxGrowthMegabytes = 256;

export const hostile: Harness = {
  id: 'P24',
  promise:
    'No request body, accepted or rejected, blocks the HTTP thread for more than ' +
    `${maxStallMs} ms or uses unbounded memory`,
  proof:
    'bodies of 64 MiB, bodies of 5 MiB (nested arrays, unclosed arrays, many values, many keys, ' +
    'unknown fields, a long document, escape sequences) and MCP messages (an array of calls, ' +
    'long texts, many values, reads of a long document) are sent one at a time and ' +
    `${concurrent} to 250 concurrently; the longest latency of a trivial request on another ` +
    'connection must be at most ' +
    `${maxStallMs} ms and ${maxStallMs * maxParsedTogether} ms, respectively; ` +
    `peak memory in /proc may grow by at most ${maxGrowthMegabytes} MB`,
  control: {
    without:
      'fast parsing (the variant adds 200 ms per large body); turns for MCP calls; the limit on ' +
      'the size of a body',
    variants: ['slow-parse', 'no-mcp-turns', 'no-body-limit'],
    separate: true,
  },
  run,
};

async function run({ tier, variants, violations }: Run): Promise<Figures> {
  skipIf(process.platform === 'linux' ? null : 'reading peak memory requires /proc');
  await using target = createTarget({ variants });
  using sender = startSender();
  await target.start();
  const idleStallMs = await longestLatency(target, 1_000);
  const idleMegabytes = megabytesOf(target.pid, 'VmRSS');
  const figures: Figures = {
    idleMaxLatencyMs: idleStallMs,
    'idle memory MB': idleMegabytes,
  };
  const id = await saveDocument(target);
  const bodies = { ...hostileBodies, mcpGet: () => getCall(readUser, id) };
  for (const [name, make] of Object.entries(bodies)) {
    const body = make();
    const attack = { target, violations, name, body, sender };
    const atOnce = body.concurrent ?? concurrent;
    const alone = await attackWith(attack, 1, rounds[tier].alone);
    const all = await attackWith(attack, atOnce, rounds[tier].together);
    const megabytes = all.peakMegabytes - idleMegabytes;
    if (megabytes > maxGrowthMegabytes) violations.add(`${name}: memory grew by ${megabytes} MB`);
    figures[name] =
      `stall ${alone.stallMs} ms, ${atOnce} concurrent ${all.stallMs} ms and ${megabytes} ` +
      `MB (${all.statuses})`;
  }
  return figures;
}

type Attack = {
  target: Target;
  violations: Violations;
  name: string;
  body: Body;
  sender: ReturnType<typeof startSender>;
};

async function attackWith(attack: Attack, atOnce: number, times: number) {
  const { target, violations, name, body, sender } = attack;
  resetPeak(target.pid);
  const limitMs = atOnce === 1 ? maxStallMs : maxStallMs * maxParsedTogether;
  const stalls: number[] = [];
  const statuses = new Set<string>();
  for (let round = 0; round < times && !isClear(stalls, limitMs); round += 1) {
    const { url, key } = target;
    const sent = sender.send({ target: { url, key }, call: body, times: atOnce });
    const tally = sent.then(({ tally }) => tally);
    stalls.push(await longestLatency(target, tally));
    for (const status of Object.keys(await tally)) statuses.add(status);
    await Bun.sleep(50);
  }
  // The lower median ignores rounds that other load on the machine slowed down.
  const stallMs = median(stalls);
  if (stallMs > limitMs) violations.add(`${name}, ${atOnce} concurrent: stall of ${stallMs} ms`);
  // The server may close the connection before all of an oversized body is sent.
  const expected = [body.status, 413, 429, 503, ...(body.status === 413 ? ['none'] : [])].map(
    String,
  );
  for (const status of statuses) {
    if (!expected.includes(status)) violations.add(`${name}: response ${status}`);
  }
  return {
    stallMs,
    peakMegabytes: megabytesOf(target.pid, 'VmHWM'),
    statuses: [...statuses].join(),
  };
}

/**
 * Whether any stall is too long to be caused by other load on the machine. In that case, no further
 * rounds are needed.
 */
function isClear(stalls: number[], limitMs: number): boolean {
  return stalls.some((ms) => ms > limitMs * 5);
}

/** A separate user, whose search index stays small. */
const readUser = 'r';

/** Saves a document close to the body limit. */
async function saveDocument(target: Target): Promise<string> {
  const body = { userId: readUser, data: { text: 'lorem ipsum dolor '.repeat(270_000) } };
  const reply = await send(target, { method: 'POST', path: '/v1/ingest/document', body });
  return (JSON.parse(reply?.text ?? '{}') as Accepted).memoryId;
}

async function longestLatency({ url }: Target, during: number | Promise<unknown>) {
  const request = requestBytes('GET', '/health/live');
  const samples = await openLoop({ url, perSecond: probesPerSecond, during, next: () => request });
  return Math.round(Math.max(0, ...samples.map(({ ms }) => ms)));
}

function megabytesOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  return Math.round(memoryBytes(pid, field) / 1_048_576);
}

/** Resets VmHWM to the current RSS. */
function resetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // Without permission, the peak includes earlier bodies and is still an upper bound.
  }
}
