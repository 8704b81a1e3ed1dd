import type { Random } from '../../support/random.ts';
import { type Call, type Reply, saveOf, send, sendUntilKnown } from '../api.ts';
import type { Target } from '../target.ts';
import { startLoops } from '../traffic/loops.ts';
import type { History, Write } from './history.ts';

/** A client that sends one request at a time and records the requests in the history. */
type Client = {
  target: Target;
  history: History;
  board: Board;
  number: number;
  random: Random;
  /** Returns a value that is unique among all writes. */
  nextValue(): number;
};

/** State that the clients of a group share. */
type Board = { userId: string; generation: number; saved: number; ids: string[] };

/** The number of memories per user. All of them must fit on one page. */
const memoriesPerUser = 30;
/** Clients of a group use only this many of the newest memories, to cause contention. */
const contended = 4;
const word = 'falcon';
const unknownPauseMs = 10;

/**
 * Starts groups of clients. The clients of a group save, read, update, delete, list and search the
 * same memories.
 */
export function startClients(
  target: Target,
  random: Random,
  { groups, perGroup }: { groups: number; perGroup: number },
): { stop(): Promise<History> } {
  const history: History = { writes: [], observations: [] };
  let lastValue = 0;
  const nextValue = () => {
    lastValue += 1;
    return lastValue;
  };
  const steps = Array.from({ length: groups }, (_, group) => {
    const board = { userId: `g${group}-0`, generation: 0, saved: 0, ids: [] };
    return Array.from({ length: perGroup }, (_, index) => {
      const number = group * perGroup + index;
      const own = { target, history, board, number, nextValue, random: random.fork(number) };
      return () => sendOne(own);
    });
  });
  const loops = startLoops(steps.flat());
  return { stop: () => loops.stop().then(() => history) };
}

async function sendOne(client: Client): Promise<void> {
  const { target, board, random } = client;
  await target.whenUp();
  const share = random.next();
  const query = `userId=${board.userId}&limit=100`;
  if (share < 0.12) return save(client);
  if (share >= 0.86) return observe(client, `/v1/memories/search?${query}&query=${word}`, null);
  if (share >= 0.7) return observe(client, `/v1/memories?${query}`, null);
  const newest = board.ids.slice(-contended);
  const key = newest[random.between(0, newest.length)];
  if (key === undefined) return;
  const path = `/v1/memories/${key}`;
  if (share >= 0.4) return observe(client, path, key);
  if (share >= 0.34) {
    await record(client, { method: 'DELETE', path }, { kind: 'delete', value: 0, key });
    return;
  }
  const value = client.nextValue();
  const call: Call = { method: 'PATCH', path, body: { content: contentOf(value) } };
  await record(client, call, { kind: 'update', value, key });
}

async function save(client: Client): Promise<void> {
  const { board } = client;
  if (board.saved >= memoriesPerUser) switchUser(board);
  board.saved += 1;
  const { ids, userId } = board;
  const value = client.nextValue();
  const call = saveOf(userId, contentOf(value));
  const { reply, write } = await record(client, call, { kind: 'save', value, key: null });
  if (write.outcome !== 'done') return;
  write.key = (JSON.parse(reply?.text ?? '') as { id: string }).id;
  ids.push(write.key);
}

/** Sends a write. Retries half of the writes with the same key until their outcome is known. */
async function record(
  { target, history, board, number, random }: Client,
  call: Call,
  about: Pick<Write, 'kind' | 'value' | 'key'>,
): Promise<{ reply: Reply | null; write: Write }> {
  const { userId } = board;
  const begun = now();
  const keyed = { ...call, idempotencyKey: `${about.kind}-${number}-${begun}` };
  const retries = random.chance(0.5);
  const reply = retries ? await sendUntilKnown(target, keyed) : await send(target, keyed);
  const outcome = outcomeOf(reply);
  const write = { ...about, outcome, userId, call: begun, return: now(), client: number };
  history.writes.push(write);
  if (outcome === 'unknown') await Bun.sleep(unknownPauseMs);
  return { reply, write };
}

async function observe(client: Client, path: string, only: string | null): Promise<void> {
  const { target, history, board, number } = client;
  const { userId } = board;
  const begun = now();
  const reply = await send(target, { method: 'GET', path });
  const seen = valuesIn(reply, only);
  if (seen === null) await Bun.sleep(unknownPauseMs);
  else
    history.observations.push({ userId, seen, only, call: begun, return: now(), client: number });
}

function switchUser(board: Board): void {
  board.generation += 1;
  board.userId = board.userId.replace(/\d+$/, String(board.generation));
  board.saved = 0;
  board.ids = [];
}

/** Returns the current time in microseconds. */
function now(): number {
  return Math.round(performance.now() * 1_000);
}

function contentOf(value: number): string {
  return `${word} ${value}`;
}

/** Returns the outcome of a write, which is unknown after a 5xx or if no response arrived. */
function outcomeOf(reply: Reply | null): Write['outcome'] {
  if (reply === null || reply.status >= 500) return 'unknown';
  if (reply.status === 404) return 'absent';
  if (reply.status < 300) return 'done';
  throw new Error(`a write returned ${reply.status} ${reply.text}`);
}

/** Returns the values by memory id, or null if the read failed. */
function valuesIn(reply: Reply | null, only: string | null): Map<string, number> | null {
  if (reply === null || reply.status >= 500) return null;
  if (reply.status === 404 && only !== null) return new Map();
  if (reply.status !== 200) throw new Error(`a read returned ${reply.status} ${reply.text}`);
  type Shown = { id: string; content: string };
  const body = JSON.parse(reply.text) as Shown & { items: Shown[] };
  const shown = only === null ? body.items : [body];
  return new Map(shown.map(({ id, content }) => [id, Number(content.split(' ')[1])]));
}
