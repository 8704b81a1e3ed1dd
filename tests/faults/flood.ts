import { openAdmin } from '../../server/admin.ts';
import { type Call, send } from './api.ts';
import {
  createViolations,
  type Finding,
  type Harness,
  type RunOptions,
  type Violations,
} from './harness.ts';
import { createTarget, type Target } from './target.ts';

const quota = 200;
const windowMs = 2_000;
const floodMs = { quick: 3_000, full: 20_000 };
const floodConnections = 8;
const politeEveryMs = 50;

export const flood: Harness = {
  id: 'P14',
  promise:
    'Requests over the rate limit receive 429 with a correct Retry-After; other projects are not ' +
    'affected',
  proof:
    `the limit is ${quota} requests in ${windowMs / 1_000} s; one project sends requests and MCP ` +
    `messages without pause from ${floodConnections} connections; the occasional requests from another project ` +
    'must all succeed, and so must a request sent after Retry-After has elapsed',
  control: { without: 'the rate limit', variants: ['no-rate-limit'] },
  run,
};

type Counts = { accepted: number; rejected: number };

async function run({ tier, variants }: RunOptions): Promise<Finding> {
  const violations = createViolations();
  const env = { MEMORY_RATE_LIMIT: `${quota}/${windowMs / 1_000}` };
  const target = createTarget({ variants, env });
  try {
    await target.start();
    const admin = await openAdmin(`sqlite:${target.path}`);
    const { key: polite } = await admin.createKey({ name: 'polite', project: 'polite' });
    await admin.close();
    const until = performance.now() + floodMs[tier];
    const counts: Counts = { accepted: 0, rejected: 0 };
    const flooding = Array.from({ length: floodConnections }, (_, index) =>
      pour(target, floods[index % floods.length] ?? list, until, counts),
    );
    const latencies = await askPolitely(target, polite, until, violations);
    await Promise.all(flooding);
    const allowed = quota * (Math.ceil(floodMs[tier] / windowMs) + 1);
    if (counts.accepted > allowed) {
      violations.add(`${counts.accepted} requests were accepted, at most ${allowed} allowed`);
    }
    if (counts.rejected === 0) violations.add('no request was rejected');
    await heedRetryAfter(target, violations);
    const p99Ms = latencies.sort((a, b) => a - b)[Math.floor(latencies.length * 0.99)] ?? 0;
    const figures = {
      ...counts,
      maxAccepted: allowed,
      otherProjectRequests: latencies.length,
      otherProjectP99Ms: Math.round(p99Ms),
    };
    return { figures, violations: violations.list() };
  } finally {
    await target.remove();
  }
}

const list: Call = { method: 'GET', path: '/v1/memories?userId=u' };
const listTools: Call = {
  method: 'POST',
  path: '/mcp/users/u',
  body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  headers: { accept: 'application/json, text/event-stream' },
};
const floods = [list, listTools];

async function pour(target: Target, call: Call, until: number, counts: Counts): Promise<void> {
  while (performance.now() < until) {
    const reply = await send(target, call);
    if (reply?.status === 429) counts.rejected += 1;
    else counts.accepted += 1;
  }
}

async function askPolitely(target: Target, apiKey: string, until: number, violations: Violations) {
  const latencies: number[] = [];
  while (performance.now() < until) {
    const begun = performance.now();
    const reply = await send(target, { method: 'GET', path: '/v1/memories?userId=u', apiKey });
    latencies.push(performance.now() - begun);
    if (reply?.status !== 200)
      violations.add(`a request from the other project returned ${reply?.status}`);
    await Bun.sleep(politeEveryMs);
  }
  return latencies;
}

/** Exceeds the rate limit and waits for Retry-After. The next request must succeed. */
async function heedRetryAfter(target: Target, violations: Violations): Promise<void> {
  for (let sent = 0; sent <= quota * 2; sent += 1) {
    const reply = await send(target, { method: 'GET', path: '/v1/memories?userId=u' });
    if (reply?.status !== 429) continue;
    const seconds = Number(reply.headers.get('retry-after'));
    if (!Number.isInteger(seconds) || seconds < 1 || seconds > windowMs / 1_000) {
      violations.add(`invalid Retry-After: ${reply.headers.get('retry-after')}`);
    }
    await Bun.sleep(seconds * 1_000);
    const again = await send(target, { method: 'GET', path: '/v1/memories?userId=u' });
    if (again?.status !== 200)
      violations.add(`the request after Retry-After returned ${again?.status}`);
    return;
  }
  violations.add(`${quota * 2} requests did not reach the limit`);
}
