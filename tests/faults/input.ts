import { FormatRegistry, type TSchema, Type } from '@sinclair/typebox';
import { Accepted, BatchAccepted } from '../../sdk/contract/ingest.ts';
import { Memory, SavedMemory } from '../../sdk/contract/memory.ts';
import { Page } from '../../sdk/contract/page.ts';
import { IngestStatus } from '../../sdk/contract/status.ts';
import { type Validator, validator } from '../../sdk/contract/validate.ts';
import { createRandom } from '../support/random.ts';
import { bodyOf, sendRaw } from '../support/raw.ts';
import { type Call, type Reply, send } from './api.ts';
import { tryBypasses } from './bypass.ts';
import { generate } from './generated.ts';
import {
  createViolations,
  type Finding,
  type Harness,
  type RunOptions,
  type Violations,
} from './harness.ts';
import { rawCases } from './raw-cases.ts';
import { createTarget, type Target } from './target.ts';

const requests = { quick: 1_500, full: 25_000 };
const atOnce = 8;

export const input: Harness = {
  id: 'P11',
  promise:
    'No input causes a 5xx response (except 505 for an unsupported version of HTTP), a hang, or ' +
    'an application error response without a message',
  proof:
    `valid and invalid requests generated from the schemas, ${rawCases('').length} raw-socket ` +
    'cases, and attempts to bypass authentication with the path, the Host header, the encoding, ' +
    'the method and other headers; responses to generated requests are validated against the ' +
    'schemas',
  control: {
    without: 'error-free code in one route (the variant throws an exception)',
    variants: ['throwing-route'],
  },
  run,
};

async function run({ seed, tier, variants }: RunOptions): Promise<Finding> {
  const violations = createViolations();
  const target = createTarget({ variants });
  const figures = {
    requests: requests[tier],
    accepted: 0,
    rejected: 0,
    rawSocketCases: 0,
    bypassAttempts: 0,
  };
  try {
    await target.start();
    await sendGenerated(target, { seed, count: requests[tier], figures, violations });
    figures.rawSocketCases = await sendRawCases(target, violations);
    const shown = await tryBypasses(target, violations);
    figures.bypassAttempts = shown.length;
    if (process.env.FAULTS_SHOW !== undefined) console.log(shown.join('\n'));
    if (!target.running()) violations.add(`the server exited: ${target.log().slice(-300)}`);
    return { figures, violations: violations.list() };
  } finally {
    await target.remove();
  }
}

async function sendRawCases(target: Target, violations: Violations): Promise<number> {
  const cases = rawCases(target.key);
  for (const { name, parts, pauseMs = 0, expect } of cases) {
    const reply = await sendRaw(target.url, parts, { pauseMs });
    const about = `${name}: ${reply.status} ${bodyOf(reply).slice(0, 100)}`;
    if (reply.ended === 'waiting') violations.add(`no response to ${name}`);
    // 505 is the correct response to an unsupported version of HTTP.
    if ((reply.status ?? 0) >= 500 && reply.status !== 505) violations.add(about);
    if (expect !== undefined && !expect.includes(reply.status)) {
      violations.add(`unexpected status: ${about}`);
    }
  }
  return cases.length;
}

async function sendGenerated(
  target: Target,
  options: {
    seed: number;
    count: number;
    figures: { accepted: number; rejected: number };
    violations: Violations;
  },
): Promise<void> {
  const { count, figures, violations } = options;
  const random = createRandom(options.seed);
  const ids: string[] = [];
  let left = count;
  async function one(): Promise<void> {
    for (; left > 0; ) {
      left -= 1;
      const call = generate(random, ids);
      const reply = await send(target, call);
      const problem = reply === null ? 'no response' : problemOf(call, reply);
      if (problem !== null)
        violations.add(
          `${call.method} ${call.path.slice(0, 80)}: ${problem} for ` +
            `${JSON.stringify(call.body)?.slice(0, 200)}`,
        );
      if (reply === null) continue;
      if (reply.status < 300) figures.accepted += 1;
      else figures.rejected += 1;
      const id = /"memoryId":"(mem_\w+)"/.exec(reply.text)?.[1];
      if (id !== undefined && ids.length < 500) ids.push(id);
    }
  }
  await Promise.all(Array.from({ length: atOnce }, one));
}

// TypeBox has no built-in formats and rejects values of a format that is not registered.
FormatRegistry.Set('date-time', (value) => !Number.isNaN(Date.parse(value)));

const errorBody = validator(
  Type.Object(
    {
      error: Type.String(),
      message: Type.String({ minLength: 1 }),
      details: Type.Optional(
        Type.Array(Type.Object({ field: Type.String(), message: Type.String() })),
      ),
      requestId: Type.String(),
    },
    { additionalProperties: false },
  ),
);

const answers: [Call['method'], RegExp, TSchema][] = [
  ['POST', /^\/v1\/memories$/, SavedMemory],
  ['PATCH', /^\/v1\/memories\//, Memory],
  ['POST', /^\/v1\/ingest(\/(support|document|chat))?$/, Accepted],
  ['POST', /^\/v1\/ingest\/batch$/, BatchAccepted],
  ['GET', /^\/v1\/memories(\?|$)/, Page],
  ['GET', /^\/v1\/memories\/[^/]+\/status/, IngestStatus],
];
const validators = answers.map(([method, path, schema]): [string, RegExp, Validator] => {
  return [method, path, validator(schema)];
});

/** Returns a description of the problem with the response, or null if there is none. */
function problemOf({ method, path }: Call, { status, text, headers }: Reply): string | null {
  if (status >= 500) return `${status} ${text}`;
  if (!headers.has('x-request-id')) return `${status} without X-Request-Id`;
  if (status === 204) return null;
  // An export is a stream of JSON lines, not one JSON value.
  if (path.startsWith('/v1/export') && status === 200) return null;
  const body = parse(text);
  if (body === undefined) return `${status} without JSON: ${text.slice(0, 100)}`;
  const [, , schema] = validators.find(([m, pattern]) => m === method && pattern.test(path)) ?? [];
  const wrong = status >= 300 ? errorBody(body) : (schema?.(body) ?? []);
  return wrong.length === 0 || isCut(body)
    ? null
    : `${status} ${JSON.stringify(wrong)} ${text.slice(0, 200)}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether the body is the replay of a write whose memory has since been deleted. */
function isCut(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'deleted' in body;
}
