import { exampleMemory } from '../../sdk/contract/memory.ts';
import { type OperationName, operations } from '../../sdk/contract/operations.ts';
import { openAdmin } from '../../server/admin.ts';
import {
  byId,
  byUser,
  isWrite,
  named,
  requests,
  type Target as Subject,
  withoutMemories,
} from '../support/operation-requests.ts';
import { type Call, listAll, type Reply, send } from './api.ts';
import { createViolations, type Finding, type Harness, type RunOptions } from './harness.ts';
import { createTarget, type Target } from './target.ts';

const rounds = { quick: 1, full: 10 };

type Kind = { readOnly: boolean; isBound: boolean };
const kinds: Kind[] = [
  { readOnly: false, isBound: false },
  { readOnly: true, isBound: false },
  { readOnly: false, isBound: true },
  { readOnly: true, isBound: true },
];
/** The user that a request names: the key's own user, another user, or none. */
const whose = ['own', 'other', 'nobody'] as const;
type Whose = (typeof whose)[number];

/** A user with one memory. The memory's text is unique. */
type Known = Subject & { userId: string };
type Attempt = { name: OperationName; kind: Kind; named: Whose; own: Known; other: Known };

export const kindsOfKeys: Harness = {
  id: 'P28',
  promise:
    'A read-only key cannot change data, and a key bound to a user cannot read or change data of ' +
    'other users',
  proof:
    `${named.length} operations are sent with ${kinds.length} kinds of keys for the key's own ` +
    'user, another user and no user; each response must have the expected status, responses to a ' +
    'bound key must contain no text or id of another user, and no forbidden change may be ' +
    'stored; imports with a bound key must get the same response for an id of another user as ' +
    'for a free id, and must not take the free id; an operation of the contract without a ' +
    'request in the harness is a violation',
  control: {
    without: 'the user checks in the export and import routes',
    variants: ['export-of-any-user', 'import-with-any-id'],
    separate: true,
  },
  run,
};

async function run({ tier, variants }: RunOptions): Promise<Finding> {
  const violations = createViolations();
  const target = createTarget({ variants });
  let attempts = 0;
  try {
    for (const name of Object.keys(operations) as OperationName[]) {
      const isKnown = named.includes(name) || withoutMemories.includes(name);
      if (!isKnown) violations.add(`the harness has no request for the operation ${name}`);
    }
    await target.start();
    const admin = await openAdmin(`sqlite:${target.path}`);
    for (let round = 0; round < rounds[tier]; round += 1) {
      for (const [name, kind, subject] of combinations()) {
        const [own, other] = [await newUser(target), await newUser(target)];
        const { key } = await admin.createKey({
          ...{ name: 'kind', project: 'default', readOnly: kind.readOnly },
          ...(kind.isBound && { userId: own.userId }),
        });
        attempts += 1;
        const attempt = { name, kind, named: subject, own, other };
        for (const problem of await problemsOf(target, key, attempt)) {
          violations.add(`${name}, ${JSON.stringify(kind)}, ${subject} user: ${problem}`);
        }
      }
      const [own, other] = [await newUser(target), await newUser(target)];
      const ofOwn = { name: 'import', project: 'default', userId: own.userId };
      const { key } = await admin.createKey(ofOwn);
      attempts += 1;
      for (const problem of await importProblems(target, key, own, other)) violations.add(problem);
    }
    await admin.close();
    const figures = { attempts, violations: violations.count() };
    return { figures, violations: violations.list() };
  } finally {
    await target.remove();
  }
}

function* combinations(): Generator<[OperationName, Kind, Whose]> {
  for (const name of named) {
    for (const kind of kinds) for (const subject of whose) yield [name, kind, subject];
  }
}

async function newUser(target: Target): Promise<Known> {
  const [userId, text] = [crypto.randomUUID(), `text${crypto.randomUUID().replaceAll('-', '')}`];
  const body = { userId, content: text };
  const reply = await send(target, { method: 'POST', path: '/v1/memories', body });
  if (reply?.status !== 201) throw new Error(`save failed: ${reply?.status} ${reply?.text}`);
  return { userId, text, id: (JSON.parse(reply.text) as { id: string }).id };
}

async function problemsOf(target: Target, apiKey: string, attempt: Attempt): Promise<string[]> {
  const { name, kind, own, other } = attempt;
  const problems: string[] = [];
  const reply = await send(target, { ...callOf(attempt), apiKey });
  if (reply === null) return ['no response'];
  const expected = expectedStatus(attempt);
  const isExpected = expected === 'success' ? reply.status < 300 : reply.status === expected;
  if (!isExpected) problems.push(`${reply.status}, expected ${expected}: ${reply.text}`);
  if (kind.isBound && shows(reply, other))
    problems.push(`returned data of the other user: ${reply.text}`);
  const [ofOwn, ofOther] = [await textsOf(target, own), await textsOf(target, other)];
  const mayWrite = isWrite(name) && !kind.readOnly;
  if ((kind.isBound || !mayWrite) && ofOther !== other.text)
    problems.push('changed data of the other user');
  if (!mayWrite && ofOwn !== own.text) problems.push('changed data of its own user');
  return problems;
}

/** Imports memories under an id of another user, and under a free id that the other user gets. */
async function importProblems(
  target: Target,
  apiKey: string,
  own: Known,
  other: Known,
): Promise<string[]> {
  async function importAs({ userId }: Known, id: string, key = apiKey): Promise<string> {
    const items = [{ ...exampleMemory, id, userId }];
    const call: Call = { method: 'POST', path: '/v1/import', body: { items }, apiKey: key };
    const reply = await send(target, call);
    return `${reply?.status} ${reply?.text}`;
  }
  const free = `mem_${crypto.randomUUID()}`;
  const reports = async (id: string) => [await importAs(own, id), await importAs(own, id)].join();
  const [ofTaken, ofFree] = [await reports(other.id), await reports(free)];
  const problems: string[] = [];
  if (ofTaken !== ofFree)
    problems.push(`an import reveals an id of another user: ${ofTaken} | ${ofFree}`);
  if ((await textsOf(target, other)) !== other.text)
    problems.push('an import changed data of another user');
  const later = await importAs(other, free, target.key);
  if (!later.includes('"imported":1')) problems.push(`an import took a free id: ${later}`);
  return problems;
}

function callOf({ name, named: subject, own, other }: Attempt): Call {
  const about = subject === 'other' ? other : own;
  const asked = { ...about, userId: subject === 'nobody' ? null : about.userId };
  const { path, body } = requests[name]?.(asked) ?? { path: '' };
  return { method: operations[name].method, path, ...(body !== undefined && { body }) };
}

function expectedStatus({ name, kind, named: subject }: Attempt): number | 'success' {
  if (isWrite(name) && kind.readOnly) return 403;
  if (kind.isBound && subject === 'other' && byUser.includes(name)) return 403;
  if (kind.isBound && subject === 'other' && byId.includes(name)) return 404;
  // Without a user, a key for all users exports the whole project, and a batch is accepted although
  // its items fail.
  const needsUser = byUser.includes(name) && name !== 'export';
  return !kind.isBound && subject === 'nobody' && needsUser ? 400 : 'success';
}

/**
 * Whether the response contains the memory. An error message may repeat an id from the request, so
 * ids are searched for only as JSON fields.
 */
function shows({ text }: Reply, { id, userId, text: content }: Known): boolean {
  const quoted = [`"id":"${id}"`, `"memoryId":"${id}"`, `"userId":"${userId}"`];
  return text.includes(content) || quoted.some((part) => text.includes(part));
}

async function textsOf(target: Target, { userId }: Known): Promise<string> {
  return (await listAll(target, userId)).map(({ content }) => content).join();
}
