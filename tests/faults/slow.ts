import { connect, type Socket } from 'node:net';
import { memoryBytes } from '../support/process.ts';
import { saveOf, send } from './api.ts';
import { type Figures, type Harness, type Run, skipIf } from './harness.ts';
import { createTarget, type Target } from './target.ts';
import { percentile } from './traffic/probe.ts';

const sockets = { quick: 500, full: 500 };
const durationMs = { quick: 3_000, full: 30_000 };
const bombs = { quick: 12, full: 60 };
const bombBytes = 64 * 1024 * 1024;
const honestP99Ms = 500;
/** The number of bodies within the size limit that contain millions of values. */
const denseBodies = { quick: 2, full: 20 };
const denseValues = 2_500_000;
const honestWorstMs = 2_000;
/** The permitted growth of peak memory. */
const allowedMegabytes = 300;

export const slow: Harness = {
  id: 'P13',
  promise:
    'Oversized, slow and dense request bodies use bounded memory and do not block other requests',
  proof:
    `${sockets.full} connections send one byte per second, and further connections send bodies of ` +
    `${bombBytes / 1024 / 1024} MB, while a probe client saves; then bodies with ` +
    `${denseValues / 1_000_000} million values are sent; the latency of the probe client and the ` +
    'peak memory in /proc must stay below fixed limits',
  control: { without: 'the limit on the size of a body', variants: ['no-body-limit'] },
  run,
};

async function run({ tier, variants, violations }: Run): Promise<Figures> {
  skipIf(process.platform === 'linux' ? null : 'reading peak memory requires /proc');
  await using target = createTarget({ variants });
  const open: Socket[] = [];
  try {
    await target.start();
    const idleMegabytes = peakMegabytes(target.pid);
    for (let count = 0; count < sockets[tier]; count += 1) open.push(dribble(target));
    const until = performance.now() + durationMs[tier];
    const attack = throwBombs(target, bombs[tier], until);
    const latencies = await saveHonestly(target, () => performance.now() < until);
    const refusals = await attack;
    let sending = true;
    const dense = sendDense(target, denseBodies[tier]).finally(() => {
      sending = false;
    });
    const worstMs = Math.max(...(await saveHonestly(target, () => sending)));
    const refusedDense = await dense;
    const grownMegabytes = peakMegabytes(target.pid) - idleMegabytes;
    const p99Ms = percentile(latencies, 0.99);
    const broken: [isBroken: boolean, text: string][] = [
      [p99Ms > honestP99Ms, `the p99 of the probe client was ${Math.round(p99Ms)} ms`],
      [worstMs > honestWorstMs, `the slowest probe request took ${Math.round(worstMs)} ms`],
      [refusedDense !== denseBodies[tier], 'a dense body was not rejected with 400'],
      [refusals.otherwise > 0, 'a body over the limit was not rejected with 413'],
      [latencies.length === 0, 'no probe request succeeded'],
      [grownMegabytes > allowedMegabytes, `memory grew by ${grownMegabytes} MB`],
    ];
    for (const [isBroken, text] of broken) if (isBroken) violations.add(text);
    return {
      slowConnections: sockets[tier],
      oversizedBodies: refusals.bombs,
      'rejected with 413': refusals.answered413,
      withoutResponse: refusals.connectionClosed,
      otherResponses: refusals.otherwise,
      probeRequests: latencies.length,
      probeP99Ms: Math.round(p99Ms),
      rejectedDenseBodies: refusedDense,
      probeMaxMs: Math.round(worstMs),
      'idle memory MB': idleMegabytes,
      'peak memory growth MB': grownMegabytes,
    };
  } finally {
    for (const socket of open) socket.destroy();
  }
}

/** Opens a connection that sends a body at one byte per second. */
function dribble({ url, key }: Target): Socket {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.write(
    `POST /v1/memories HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{',
  );
  const timer = setInterval(() => socket.write(' '), 1_000);
  socket.on('close', () => clearInterval(timer));
  return socket;
}

/** Sends bodies far over the limit, half of them without a Content-Length. */
async function throwBombs(target: Target, count: number, until: number) {
  const refusals = { bombs: 0, answered413: 0, connectionClosed: 0, otherwise: 0 };
  const chunk = new Uint8Array(1024 * 1024).fill(32);
  async function one(index: number): Promise<void> {
    const declared = index % 2 === 0;
    const status = await throwBomb(target, chunk, declared);
    refusals.bombs += 1;
    if (status === 413) refusals.answered413 += 1;
    else if (status === null) refusals.connectionClosed += 1;
    else refusals.otherwise += 1;
  }
  for (let index = 0; index < count && performance.now() < until; index += 4) {
    await Promise.all([0, 1, 2, 3].map((offset) => one(index + offset)));
  }
  return refusals;
}

async function throwBomb({ url, key }: Target, chunk: Uint8Array, declared: boolean) {
  const chunks = bombBytes / chunk.length;
  let sent = 0;
  const body = new ReadableStream({
    pull(controller) {
      if (sent < chunks) controller.enqueue(chunk);
      else controller.close();
      sent += 1;
    },
  });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const whole = () => new Blob(Array.from({ length: chunks }, () => Buffer.from(chunk)));
  try {
    const init = { method: 'POST', headers, body: declared ? whole() : body };
    const response = await fetch(`${url}/v1/ingest/document`, {
      ...init,
      signal: AbortSignal.timeout(10_000),
    });
    await response.text();
    return response.status;
  } catch {
    return null;
  }
}

/** Sends dense bodies one after the other. Returns how many were rejected with 400. */
async function sendDense(target: Target, count: number): Promise<number> {
  const a = Array(denseValues).fill(0);
  const body = { userId: 'dense', data: { text: 'x' }, metadata: { a } };
  let refused = 0;
  for (let sent = 0; sent < count; sent += 1) {
    const reply = await send(target, { method: 'POST', path: '/v1/ingest/document', body });
    if (reply?.status === 400) refused += 1;
  }
  return refused;
}

async function saveHonestly(target: Target, goesOn: () => boolean): Promise<number[]> {
  const latencies: number[] = [];
  while (goesOn()) {
    const begun = performance.now();
    const reply = await send(target, saveOf('honest', 'an ordinary text'));
    if (reply?.status === 201) latencies.push(performance.now() - begun);
    await Bun.sleep(10);
  }
  return latencies;
}

function peakMegabytes(pid: number): number {
  return Math.round(memoryBytes(pid, 'VmHWM') / 1_048_576);
}
