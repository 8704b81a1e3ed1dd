import { readFileSync } from 'node:fs';
import { openAdmin } from '../../server/admin.ts';
import { send } from './api.ts';
import {
  createViolations,
  type Finding,
  type Harness,
  type RunOptions,
  type Violations,
} from './harness.ts';
import { createTarget, type Target } from './target.ts';

const rounds = { quick: 4, full: 40 };
const connections = 4;
const revokedWithinMs = 1_000;
const watchMs = 1_600;
const secretText = 'text-that-no-log-may-hold';
const secretIdempotencyKey = 'idempotency-key-that-no-log-may-hold';

export const revoke: Harness = {
  id: 'P15',
  promise:
    'A revoked key is rejected within one second; the database, the logs and error responses ' +
    'contain no secrets',
  proof:
    `another process revokes keys while ${connections} connections use them; the database files ` +
    'are searched for keys, the log at level debug for keys, texts and idempotency keys, and the ' +
    'error responses for keys and texts',
  control: { without: 'the expiry of cached keys', variants: ['keys-cached-for-ever'] },
  run,
};

async function run({ tier, variants }: RunOptions): Promise<Finding> {
  const violations = createViolations();
  const target = createTarget({ variants, env: { LOG_LEVEL: 'debug' } });
  const secrets: string[] = [target.key];
  const answers: string[] = [];
  let slowestMs = 0;
  try {
    await target.start();
    for (let round = 0; round < rounds[tier]; round += 1) {
      const admin = await openAdmin(`sqlite:${target.path}`);
      const { id, key } = await admin.createKey({ name: `key ${round}`, project: 'default' });
      secrets.push(key);
      await write(target, key);
      const using = use(target, key, answers);
      await Bun.sleep(100);
      const revokedAt = performance.now();
      await admin.revokeKey(id);
      await admin.close();
      const lastMs = (await using) - revokedAt;
      slowestMs = Math.max(slowestMs, lastMs);
      if (lastMs > revokedWithinMs)
        violations.add(`the key was still accepted ${Math.round(lastMs)} ms after its revocation`);
    }
    const hits = search(target, secrets, answers, violations);
    const figures = {
      rounds: rounds[tier],
      slowestRevocationMs: Math.round(slowestMs),
      secretsFound: hits,
    };
    return { figures, violations: violations.list() };
  } finally {
    await target.remove();
  }
}

/** Sends a valid and an invalid save with texts and keys that must not be logged. */
async function write(target: Target, apiKey: string): Promise<void> {
  const body = { userId: 'u', content: secretText };
  const idempotencyKey = secretIdempotencyKey;
  await send(target, { method: 'POST', path: '/v1/memories', body, apiKey, idempotencyKey });
  const bad = { userId: 'u', content: secretText, metadata: secretText };
  await send(target, { method: 'POST', path: '/v1/memories', body: bad, apiKey, idempotencyKey });
}

/** Uses the key until `watchMs` have passed. Returns the send time of the last accepted request. */
async function use(target: Target, apiKey: string, answers: string[]): Promise<number> {
  const until = performance.now() + watchMs;
  let lastAt = 0;
  async function one(): Promise<void> {
    while (performance.now() < until) {
      const sentAt = performance.now();
      const reply = await send(target, { method: 'GET', path: '/v1/memories/mem_none', apiKey });
      if (reply?.status === 404) lastAt = Math.max(lastAt, sentAt);
      else answers.push(reply?.text ?? '');
      await Bun.sleep(5);
    }
  }
  await Promise.all(Array.from({ length: connections }, one));
  return lastAt;
}

function search(target: Target, keys: string[], answers: string[], violations: Violations): number {
  const places: [string, string, string[]][] = [
    ['the database', readFileSync(target.path, 'latin1'), keys],
    ['the WAL', readFileSync(`${target.path}-wal`, 'latin1'), keys],
    ['the log', target.log(), [...keys, secretText, secretIdempotencyKey]],
    ['an error response', [...new Set(answers)].join(), [...keys, secretText]],
  ];
  let hits = 0;
  for (const [place, text, secrets] of places) {
    for (const secret of secrets) {
      if (!text.includes(secret)) continue;
      hits += 1;
      violations.add(`${place} contains a secret`);
    }
  }
  return hits;
}
