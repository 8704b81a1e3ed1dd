import type { Random } from '../support/random.ts';
import { sendRaw } from '../support/raw.ts';
import { type Call, drained, listAll, sendUntilKnown } from './api.ts';
import type { Figures, Harness, Run } from './harness.ts';
import { createTarget, type Target } from './target.ts';

const cycles = { quick: 5, full: 50 };
const clients = 8;
const userId = 'terminated';
const endWithinMs = 12_000;
const uploadMs = 400;

export const terminate: Harness = {
  id: 'P16',
  promise:
    'After SIGTERM, the server answers requests in flight, loses no acknowledged write, and ' +
    `exits within ${endWithinMs / 1_000} seconds`,
  proof:
    `SIGTERM is sent under load from ${clients} clients; a write whose body arrives after the ` +
    'signal must be answered; every stored write must have been answered, and every acknowledged ' +
    'write must be stored; the exit code must be 0',
  control: { without: 'waiting for requests in flight', variants: ['stop-at-once'] },
  run,
};

const noFigures = {
  acknowledged: 0,
  rejected: 0,
  unanswered: 0,
  inFlightAnswered: 0,
  unansweredButStored: 0,
  slowestShutdownMs: 0,
};

type Tally = { answered: string[]; unanswered: Call[]; refused: number };

async function run({ tier, variants, random, violations }: Run): Promise<Figures> {
  await using target = createTarget({ variants });
  const figures = { ...noFigures, cycles: cycles[tier] };
  const answered = new Set<string>();
  for (let cycle = 0; cycle < cycles[tier]; cycle += 1) {
    await target.start();
    const { tally, code, stopMs, inHand } = await terminateUnderLoad(target, random, cycle);
    for (const id of tally.answered) answered.add(id);
    figures.acknowledged += tally.answered.length;
    figures.rejected += tally.refused;
    figures.unanswered += tally.unanswered.length;
    figures.slowestShutdownMs = Math.max(figures.slowestShutdownMs, stopMs);
    if (inHand === null) violations.add('a request in flight was not answered');
    else figures.inFlightAnswered += 1;
    if (code !== 0) violations.add(`the server exited with code ${code}`);
    if (stopMs > endWithinMs) violations.add(`the shutdown took ${stopMs} ms`);
    await target.start();
    figures.unansweredButStored += await countAccepted(target, tally.unanswered, answered);
    await target.stop();
  }
  if (figures.unansweredButStored > 0) violations.add('writes were stored but not answered');
  await target.start();
  await drained(target, 20_000);
  const stored = new Set((await listAll(target, userId)).map(({ id }) => id));
  const lost = [...answered].filter((id) => !stored.has(id)).length;
  if (lost > 0) violations.add(`${lost} acknowledged writes are lost`);
  return { ...figures, lost };
}

async function terminateUnderLoad(target: Target, random: Random, cycle: number) {
  const tally: Tally = { answered: [], unanswered: [], refused: 0 };
  const load = Array.from({ length: clients }, (_, index) =>
    writeUntilDown(target, `${cycle}-${index}`, tally),
  );
  await Bun.sleep(random.between(50, 300));
  const inHand = sendSlowly(target, cycle);
  await Bun.sleep(uploadMs / 2);
  const begun = performance.now();
  const code = await target.stop();
  const stopMs = Math.round(performance.now() - begun);
  await Promise.all(load);
  return { tally, code, stopMs, inHand: await inHand };
}

/** Sends a write in two parts, the second after the signal. Returns the response status. */
async function sendSlowly(target: Target, cycle: number): Promise<number | null> {
  const body = JSON.stringify({ userId, content: `in hand ${cycle}` });
  const head =
    `POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${target.key}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  const parts = [head + body.slice(0, 10), body.slice(10)];
  const { status } = await sendRaw(target.url, parts, { pauseMs: uploadMs });
  return status;
}

async function writeUntilDown(target: Target, name: string, tally: Tally): Promise<void> {
  for (let count = 0; ; count += 1) {
    const content = `${name} ${count} ${'word '.repeat(200)}`;
    const path = count % 3 === 0 ? '/v1/ingest/document' : '/v1/memories';
    const body = count % 3 === 0 ? { userId, data: { text: content } } : { userId, content };
    const call: Call = { method: 'POST', path, body, idempotencyKey: `${name}-${count}` };
    const outcome = await attempt(target, call);
    if (outcome === 'not connected') return;
    if (outcome === 'cut off') tally.unanswered.push(call);
    else if (outcome.status >= 300) tally.refused += 1;
    else tally.answered.push(outcome.memoryId);
  }
}

async function attempt({ url, key }: Target, { path, body, idempotencyKey = '' }: Call) {
  try {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'idempotency-key': idempotencyKey,
      },
      body: JSON.stringify(body),
    });
    const { memoryId = '' } = (await response.json()) as { memoryId?: string };
    return { status: response.status, memoryId };
  } catch (error) {
    const { code } = error as { code?: string };
    return code === 'ECONNREFUSED' || code === 'ConnectionRefused' ? 'not connected' : 'cut off';
  }
}

/**
 * Retries the unanswered writes on the restarted server. Counts those with a replayed response,
 * because the previous process stored them without answering.
 */
async function countAccepted(
  target: Target,
  calls: Call[],
  answered: Set<string>,
): Promise<number> {
  let accepted = 0;
  for (const call of calls) {
    const reply = await sendUntilKnown(target, call);
    if (reply === null || reply.status >= 300) continue;
    answered.add((JSON.parse(reply.text) as { memoryId: string }).memoryId);
    if (reply.headers.get('idempotency-status') === 'replayed') accepted += 1;
  }
  return accepted;
}
