import type { Random } from '../../support/random.ts';
import { type Call, type Reply, send, sendUntilKnown } from '../api.ts';
import type { Target } from '../target.ts';
import type { History, Observation, Write } from './history.ts';

/** Memories per user; all of them must fit on one page. */
const savedOfUser = 30;
/** Clients use only the newest memories, so that they contend for them. */
const contested = 4;
const word = 'falcon';
const unknownPauseMs = 10;

/** State that the clients of a group share. */
type Board = { userId: string; generation: number; saved: number; ids: string[] };

export type Clients = { stop(): Promise<History> };

/** The clients of a group save, read, update, delete, list and search the same memories. */
export function startClients(
  target: Target,
  random: Random,
  { groups, perGroup }: { groups: number; perGroup: number },
): Clients {
  const history: History = { writes: [], observations: [] };
  const state = { stopping: false, value: 0 };
  const running = Array.from({ length: groups }, (_, group) => {
    const board: Board = { userId: `g${group}-0`, generation: 0, saved: 0, ids: [] };
    return Array.from({ length: perGroup }, (_, index) => {
      const client = group * perGroup + index;
      const steps = createSteps({ target, history, board, client, next: () => (state.value += 1) });
      return runClient(target, random.fork(client), steps, () => state.stopping);
    });
  }).flat();
  return {
    async stop() {
      state.stopping = true;
      await Promise.all(running);
      return history;
    },
  };
}

type Steps = ReturnType<typeof createSteps>;

async function runClient(target: Target, random: Random, steps: Steps, stopping: () => boolean) {
  while (!stopping()) {
    await target.whenUp();
    const share = random.next();
    const patient = random.chance(0.5);
    if (share < 0.12) await steps.save(patient);
    else if (share < 0.34) await steps.update(random, patient);
    else if (share < 0.4) await steps.remove(random, patient);
    else if (share < 0.7) await steps.get(random);
    else if (share < 0.86) await steps.see('');
    else await steps.see(`/search?query=${word}`);
  }
}

type Context = {
  target: Target;
  history: History;
  board: Board;
  client: number;
  next(): number;
};

function createSteps({ target, history, board, client, next }: Context) {
  const now = () => Math.round(performance.now() * 1_000);

  /** A patient client retries with the same idempotency key until the outcome is known. */
  async function write(call: Call, patient: boolean, entry: Pick<Write, 'kind' | 'value' | 'key'>) {
    const { userId } = board;
    const begun = now();
    const keyed = { ...call, idempotencyKey: `${entry.kind}-${client}-${begun}` };
    const reply = patient ? await sendUntilKnown(target, keyed) : await send(target, keyed);
    const outcome = outcomeOf(reply);
    const times = { call: begun, return: now(), client };
    const entered: Write = { ...entry, outcome, userId, ...times };
    history.writes.push(entered);
    if (outcome === 'unknown') await Bun.sleep(unknownPauseMs);
    return { reply, entered };
  }

  function pick(random: Random): string | undefined {
    const newest = board.ids.slice(-contested);
    return newest[random.between(0, newest.length)];
  }

  async function look(path: string, only: string | null) {
    const { userId } = board;
    const begun = now();
    const reply = await send(target, { method: 'GET', path });
    const seen = seenIn(reply, only);
    if (seen === null) return void (await Bun.sleep(unknownPauseMs));
    const observation: Observation = { userId, seen, only, call: begun, return: now(), client };
    history.observations.push(observation);
  }

  return {
    async save(patient: boolean) {
      if (board.saved >= savedOfUser) startUser(board);
      board.saved += 1;
      const { ids, userId } = board;
      const value = next();
      const call: Call = { method: 'POST', path: '/v1/memories', body: bodyOf(value, userId) };
      const { reply, entered } = await write(call, patient, { kind: 'save', value, key: null });
      if (entered.outcome !== 'done') return;
      entered.key = (JSON.parse(reply?.text ?? '') as { id: string }).id;
      ids.push(entered.key);
    },
    async update(random: Random, patient: boolean) {
      const key = pick(random);
      if (key === undefined) return;
      const value = next();
      const call: Call = { method: 'PATCH', path: `/v1/memories/${key}`, body: bodyOf(value) };
      await write(call, patient, { kind: 'update', value, key });
    },
    async remove(random: Random, patient: boolean) {
      const key = pick(random);
      if (key === undefined) return;
      const call: Call = { method: 'DELETE', path: `/v1/memories/${key}` };
      await write(call, patient, { kind: 'delete', value: 0, key });
    },
    async get(random: Random) {
      const key = pick(random);
      if (key !== undefined) await look(`/v1/memories/${key}`, key);
    },
    see(search: string) {
      const separator = search === '' ? '?' : '&';
      return look(`/v1/memories${search}${separator}userId=${board.userId}&limit=100`, null);
    },
  };
}

function startUser(board: Board): void {
  board.generation += 1;
  board.userId = board.userId.replace(/\d+$/, String(board.generation));
  board.saved = 0;
  board.ids = [];
}

function bodyOf(value: number, userId?: string) {
  return { content: `${word} ${value}`, ...(userId !== undefined && { userId }) };
}

/** After a server error, or without a response, the outcome is unknown. */
function outcomeOf(reply: Reply | null): Write['outcome'] {
  if (reply === null || reply.status >= 500) return 'unknown';
  if (reply.status === 404) return 'absent';
  if (reply.status < 300) return 'done';
  throw new Error(`a write was answered ${reply.status} ${reply.text}`);
}

/** Null if the read failed. */
function seenIn(reply: Reply | null, only: string | null): Map<string, number> | null {
  if (reply === null || reply.status >= 500) return null;
  if (reply.status === 404 && only !== null) return new Map();
  if (reply.status !== 200) throw new Error(`a read was answered ${reply.status} ${reply.text}`);
  type Shown = { id: string; content: string };
  const answer = JSON.parse(reply.text) as Shown & { items: Shown[] };
  const shown = only === null ? answer.items : [answer];
  return new Map(shown.map(({ id, content }) => [id, Number(content.split(' ')[1])]));
}
