import type { UserRecord } from '../../../sdk/contract/ingest.ts';
import type { Random } from '../../support/random.ts';

/* Valid and invalid lines like those exported by a help desk, a product or a chat. */

const users = Array.from({ length: 40 }, (_, index) => `customer-${index}`);
const subjects = ['Refund', 'Invoice of last month', 'Größe falsch', 'Login fails', '返品について'];
const sentences = [
  'Where is my refund? I sent the parcel back two weeks ago.',
  'It was shipped this morning, the number is in the mail.',
  'She prefers to be called in the afternoon.',
  'Il faut changer l’adresse de livraison 🙂.',
  'The export stops after the first page, in every browser.',
];
const sources = ['helpdesk', 'crm'];
const keyedShare = 0.05;

/** An event that a product sends repeatedly. Each occurrence is a separate memory. */
export const equalRecord: UserRecord = {
  type: 'event',
  userId: 'customer-0',
  data: { name: 'signed in' },
};

export function recordAt(index: number, random: Random): UserRecord {
  const userId = random.pick(users);
  const record = { userId, ...contentAt(index, random) };
  if (!random.chance(keyedShare)) return record;
  // The range is small, so some ids repeat, and their records replace earlier ones.
  const externalId = String(random.between(0, 2_000));
  return { ...record, source: random.pick(sources), externalId };
}

type Content = UserRecord extends infer One ? (One extends unknown ? Bare<One> : never) : never;
type Bare<One> = Omit<One, 'userId' | 'source' | 'externalId'>;

function contentAt(index: number, random: Random): Content {
  const text = () => random.pick(sentences);
  const draw = random.next();
  if (draw < 0.4) return { type: 'event', data: { name: 'page viewed', page: `/orders/${index}` } };
  if (draw < 0.5) {
    const summary = `${text()} ${text()}`;
    return { type: 'profile', data: { summary, plan: random.pick(['free', 'pro']), seen: index } };
  }
  if (draw < 0.75) {
    const comments = [
      { author: 'user', content: text() },
      { author: 'agent', content: text(), timestamp: '2026-11-20T10:00:00Z' },
    ];
    const subject = `${random.pick(subjects)} #${index}`;
    return { type: 'ticket', data: { subject, comments, status: random.pick(['open', 'solved']) } };
  }
  if (draw < 0.85) {
    const paragraphs = Array.from({ length: random.between(2, 12) }, text).join('\n\n');
    return { type: 'document', metadata: { number: index }, data: { text: paragraphs } };
  }
  const messages = [
    { role: 'user', content: `${text()} (${index})` },
    { role: 'assistant', content: text() },
  ];
  return { type: 'conversation', data: { messages, tags: ['chat'] } };
}

/** An invalid line and the error that must be reported for it. */
export type BadText = { bytes: Uint8Array; error: string };

const badTexts: (() => BadText)[] = [
  () => bad('{"type":"event","userId":"customer-1","data":{"name":"page vie', 'invalid_json'),
  () => invalid({ type: 'event', data: { name: 'page viewed' } }),
  () => invalid({ type: 'event', userId: 'customer-1', user: 'x', data: { name: 'page viewed' } }),
  () => invalid({ type: 'ticket', userId: 7, data: { subject: 'Refund', comments: [] } }),
  () => invalid({ type: 'letter', userId: 'customer-1', data: { text: 'Dear all' } }),
  () => {
    const metadata = { note: 'n'.repeat(17_000) };
    return invalid({ type: 'document', userId: 'customer-1', metadata, data: { text: 'x' } });
  },
  () => {
    const halves = ['{"type":"event","userId":"customer-1","data":{"name":"', '"}}'];
    const [head = '', tail = ''] = halves;
    const bytes = Buffer.concat([Buffer.from(head), Buffer.from([0xc3, 0x28]), Buffer.from(tail)]);
    return { bytes, error: 'invalid_text' };
  },
  () => bad('null', 'invalid_request'),
];

export function badTextAt(number: number): BadText {
  const make = badTexts[number % badTexts.length];
  if (make === undefined) throw new Error('there are no invalid lines to choose from');
  return make();
}

function invalid(record: object): BadText {
  return bad(JSON.stringify(record), 'invalid_request');
}

function bad(text: string, error: string): BadText {
  return { bytes: Buffer.from(text), error };
}
