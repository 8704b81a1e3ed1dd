import { createRandom, type Random } from '../support/random.ts';
import { type Call, find, send } from './api.ts';
import {
  createViolations,
  type Finding,
  type Harness,
  type RunOptions,
  type Violations,
} from './harness.ts';
import { createTarget, type Target } from './target.ts';

/** The quick run sends every seventh code point, the full run all of them. */
const stride = { quick: 7, full: 1 };
const perText = 20_000;
const compositions = { quick: 100, full: 3_000 };

export const text: Harness = {
  id: 'P12',
  promise: 'Accepted text is returned unchanged; text that cannot be stored is rejected',
  proof:
    'code points of every plane in content, metadata and user ids; combining characters, ' +
    'bidirectional text, line endings, byte order marks and a document of 1 MB; NUL, lone ' +
    'surrogates and invalid UTF-8 must be rejected with 400',
  control: {
    without: 'unchanged storage of text (the variant normalizes it to NFC)',
    variants: ['normalised-text'],
  },
  run,
};

async function run({ seed, tier, variants }: RunOptions): Promise<Finding> {
  const random = createRandom(seed);
  const violations = createViolations();
  const target = createTarget({ variants });
  const figures = { codePoints: 0, texts: 0, invalidBodies: 0 };
  try {
    await target.start();
    for (const text of everyCodePoint(stride[tier])) {
      figures.codePoints += [...text].length;
      figures.texts += 1;
      await roundTrip(target, text, violations);
    }
    for (let count = 0; count < compositions[tier]; count += 1) {
      figures.texts += 1;
      await roundTrip(target, compose(random), violations);
    }
    await roundTripDocument(target, 'Ω🦊é\r\n'.repeat(120_000), violations);
    for (const bytes of unstorable()) {
      figures.invalidBodies += 1;
      await expectRefusal(target, bytes, violations);
    }
    return { figures, violations: violations.list() };
  } finally {
    await target.remove();
  }
}

function* everyCodePoint(stride: number): Generator<string> {
  let text = '';
  let count = 0;
  for (let point = 1; point <= 0x10ffff; point += stride) {
    if (point >= 0xd800 && point <= 0xdfff) continue;
    text += String.fromCodePoint(point);
    count += 1;
    if (count % perText === 0) {
      yield text;
      text = '';
    }
  }
  if (text !== '') yield text;
}

const pieces = [
  ...['é', 'e\u0301', '\u1e9b\u0323', '가', '\u1100\u1161', 'ﬁ', 'Å', '\u212b', '\u0344', '한글'],
  ...[
    '\ufeff',
    '\u200d',
    '👩‍👩‍👧',
    '🏳️‍🌈',
    '\u202e',
    'אב',
    'عربي',
    '\u0000'.replace('\0', '\u0001'),
  ],
  ...['\r\n', '\n', '\r', '\t', '\u2028', '\u0085', ' ', '\u00a0', '\ufffd', '\ufffe', '\u{1ffff}'],
  ...['"', '\\', '\\u0041', '</script>', '%00', '$\u007bx}', "'; --", '\u{10fffd}', 'ß', 'İ', 'ı'],
];

function compose(random: Random): string {
  return Array.from({ length: random.between(1, 40) }, () => random.pick(pieces)).join('');
}

/**
 * Saves the text as content, and its beginning in a metadata key, a metadata value and the user id.
 * Checks that the service returns all of them unchanged.
 */
async function roundTrip(target: Target, text: string, violations: Violations): Promise<void> {
  const short = [...text].slice(0, 200).join('');
  const metadata = { [`k${short}`]: short };
  const body = { userId: `u${short}`, content: text, metadata };
  const reply = await send(target, { method: 'POST', path: '/v1/memories', body });
  if (reply?.status !== 201) {
    violations.add(
      `rejected ${JSON.stringify(short.slice(0, 20))}: ${reply?.status} ` +
        `${reply?.text.slice(0, 200)}`,
    );
    return;
  }
  const { id } = JSON.parse(reply.text) as { id: string };
  const memory = await find(target, id);
  expectEqual('content', memory?.content, text, violations);
  expectEqual('metadata', JSON.stringify(memory?.metadata), JSON.stringify(metadata), violations);
  const path = `/v1/memories?userId=${encodeURIComponent(body.userId)}`;
  const list = await send(target, { method: 'GET', path });
  const { items } = JSON.parse(list?.text ?? '{"items":[]}') as {
    items: { id: string; userId: string }[];
  };
  const listed = items.find((item) => item.id === id);
  expectEqual('userId', listed?.userId, body.userId, violations);
}

async function roundTripDocument(target: Target, text: string, violations: Violations) {
  const body = { userId: 'u', data: { text } };
  const reply = await send(target, { method: 'POST', path: '/v1/ingest/document', body });
  const { memoryId = '' } = JSON.parse(reply?.text ?? '{}') as { memoryId?: string };
  expectEqual('document', (await find(target, memoryId))?.content, text, violations);
}

function expectEqual(
  about: string,
  found: string | undefined,
  sent: string,
  violations: Violations,
) {
  if (found === sent) return;
  let index = 0;
  while (index < sent.length && found?.[index] === sent[index]) index += 1;
  const at = (text: string | undefined) => JSON.stringify(text?.slice(index, index + 8));
  violations.add(`${about}: returned ${at(found)}, sent ${at(sent)}`);
}

/** Returns bodies with text that the service cannot store unchanged. */
function unstorable(): Uint8Array[] {
  const head = '{"userId":"u","content":"';
  const escapes = ['\\u0000', '\\ud800', '\\udc00', 'a\\ud83dz', '\\udfff\\ud800'];
  const bytes = [
    [0xff],
    [0xc0, 0x80],
    [0xed, 0xa0, 0x80],
    [0xf4, 0x90, 0x80, 0x80],
    [0xe2, 0x82],
    [0x80],
  ];
  return [
    ...escapes.map((text) => Buffer.from(`${head}${text}"}`)),
    ...escapes.map((text) =>
      Buffer.from(`{"userId":"u","content":"x","metadata":{"k":"${text}"}}`),
    ),
    ...escapes.map((text) => Buffer.from(`{"userId":"u","content":"x","metadata":{"k${text}":1}}`)),
    ...escapes.map((text) => Buffer.from(`{"userId":"u${text}","content":"x"}`)),
    ...bytes.map((raw) => Buffer.concat([Buffer.from(head), Buffer.from(raw), Buffer.from('"}')])),
  ];
}

async function expectRefusal({ url, key }: Target, body: Uint8Array, violations: Violations) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const call: Pick<Call, 'method'> = { method: 'POST' };
  const response = await fetch(`${url}/v1/memories`, { ...call, headers, body: Buffer.from(body) });
  const shown = Buffer.from(body).toString('latin1');
  if (response.status !== 400)
    violations.add(`${shown}: returned ${response.status}, expected 400`);
  await response.text();
}
