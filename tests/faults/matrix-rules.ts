import { type Call, listAll, type Reply } from './api.ts';
import type { Target } from './target.ts';

export type Case = { name: string; check(context: Context): Promise<string | null> };

export type Context = {
  target: Target;
  /** Another API key of the same project. */
  rotated: string;
  /** An API key of another project. */
  other: string;
  /** A user id that no other case uses. */
  userId: string;
  /** An idempotency key that no other case uses. */
  key: string;
  send(call: Call): Promise<Reply>;
};

export const post = (path: string, body: unknown, idempotencyKey: string): Call => ({
  ...{ method: 'POST', path, body, idempotencyKey },
});

export const save = ({ userId, key }: Context, more: object = {}): Call =>
  post('/v1/memories', { userId, content: 'first', ...more }, key);

/** Sends a save, then `again`, which must replay the first response. One memory must be stored. */
export async function replays(c: Context, again: Call): Promise<string | null> {
  const first = await c.send(save(c));
  const second = await c.send(again);
  if (first.status !== 201) return `the first request returned ${first.status}`;
  if (second.text !== first.text || second.status !== 201) return 'the responses differ';
  if (second.headers.get('idempotency-status') !== 'replayed') return 'not marked as replayed';
  return expectStored(c, 1);
}

/**
 * Sends a save, then `other`. The second request must be rejected because it reuses the key. With
 * `onIt`, the second request is sent to the path of the saved memory.
 */
export async function isRefused(c: Context, other: Call, onIt = false): Promise<string | null> {
  const { text } = await c.send(save(c));
  const { id } = JSON.parse(text) as { id: string };
  const second = await c.send(onIt ? { ...other, path: `/v1/memories/${id}` } : other);
  if (!isReuse(second)) return `returned ${second.status} ${second.text}`;
  const [memory, ...more] = await listAll(c.target, c.userId);
  if (memory?.content !== 'first' || more.length > 0) return 'stored data changed';
  return null;
}

export async function isIndependent(c: Context, other: Call): Promise<string | null> {
  const first = await c.send(save(c));
  const second = await c.send(other);
  if (second.status !== 201) return `returned ${second.status}`;
  const ids = [first, second].map(({ text }) => (JSON.parse(text) as { id: string }).id);
  return ids[0] === ids[1] ? 'both requests returned the same memory' : null;
}

export function withoutKey({ idempotencyKey: _, ...call }: Call): Call {
  return call;
}

export async function saved(c: Context, content: string): Promise<string> {
  const { text } = await c.send(withoutKey(save(c, { content })));
  return (JSON.parse(text) as { id: string }).id;
}

export async function expectStored(c: Context, count: number): Promise<string | null> {
  const stored = (await listAll(c.target, c.userId)).length;
  return stored === count ? null : `${stored} memories are stored, expected ${count}`;
}

export function expectStatus({ status, text }: Reply, expected: number): string | null {
  return status === expected ? null : `returned ${status} ${text}`;
}

export function isReuse({ status, text }: Reply): boolean {
  return status === 400 && text.includes('"idempotency_key_reused"');
}
