import type { MemoryClient } from '../../sdk/index.ts';
import { until } from '../support/until.ts';
import { isHeldOut, type Turn, type User } from './data.ts';
import { fts5 } from './engines.ts';
import { type Scores, scoresOf } from './measure.ts';
import type { DataSet, Way } from './sets.ts';

/**
 * The scores for one question of the service by words, of the service with its model (null without
 * one), and of FTS5.
 */
export type Answer = { kind: string; ours: Scores; meaning: Scores | null; fts5: Scores };

const most = 10;
const messagesPerChat = 10;
const embeddedWithinMs = 60 * 60_000;

type Asking = {
  client: MemoryClient;
  clock: { nowMs: number };
  set: DataSet;
  heldOut: boolean;
  withMeaning: boolean;
};

/**
 * Saves the memories of a set in a running service, and asks the questions of one half. Sets the
 * service's clock to the time at which a question is asked, if it is known.
 */
export async function answersOf(asking: Asking): Promise<Answer[]> {
  const { client, clock, set, heldOut, withMeaning } = asking;
  const { name, way, users } = set;
  const answers: Answer[] = [];
  for (const user of users) {
    const questions = user.questions.filter((question) => isHeldOut(question) === heldOut);
    if (questions.length === 0) continue;
    const userId = `${name}/${user.name}`;
    clock.nowMs = Date.now();
    const turnsOf = await store(client, userId, way, user);
    if (withMeaning) await waitUntilEmbedded(client);
    const baseline = fts5(await contentsOf(client, userId), most);
    for (const { kind, evidence, text, askedAt } of questions) {
      clock.nowMs = askedAt === undefined ? Date.now() : Date.parse(askedAt);
      const score = (ids: string[]) =>
        scoresOf(
          evidence,
          ids.map((id) => turnsOf.get(id) ?? []),
        );
      const asked = { userId, query: text, limit: most };
      const words = withMeaning ? { ...asked, mode: 'words' as const } : asked;
      const ours = score(await idsOf(client, words));
      const meaning = withMeaning ? score(await idsOf(client, asked)) : null;
      answers.push({ kind, ours, meaning, fts5: score(baseline(text)) });
    }
  }
  return answers;
}

type Asked = Parameters<MemoryClient['search']>[0];

/** Searches, once all of the user's memories that the search compares have vectors. */
async function idsOf(client: MemoryClient, asked: Asked): Promise<string[]> {
  const ask = async () => {
    const { items, meaning } = await client.search(asked);
    return meaning === 'partial' || meaning === 'unavailable' ? null : items;
  };
  const items = await until(ask, { timeoutMs: embeddedWithinMs, what: 'the vectors' });
  return items.map(({ id }) => id);
}

async function waitUntilEmbedded(client: MemoryClient): Promise<void> {
  const isEmbedded = async () => (await client.health()).embeddings.pending === 0;
  await until(isEmbedded, { timeoutMs: embeddedWithinMs, what: 'the vectors' });
}

/** Saves the turns in order. Returns the ids of the turns in each memory. */
async function store(
  client: MemoryClient,
  userId: string,
  way: Way,
  { turns }: User,
): Promise<Map<string, string[]>> {
  const stored = new Map<string, string[]>();
  for (const part of partsOf(turns, way === 'chat' ? messagesPerChat : 1)) {
    const memoryId = await storePart(client, userId, way, part);
    stored.set(
      memoryId,
      part.map(({ id }) => id),
    );
  }
  if (way !== 'save') for (const id of stored.keys()) await client.waitUntilComplete(id);
  return stored;
}

/** Splits each session into parts of up to `size` turns. */
function partsOf(turns: Turn[], size: number): Turn[][] {
  const sessions = Map.groupBy(turns, ({ session }) => session);
  return [...sessions.values()].flatMap((list) =>
    Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
      list.slice(index * size, (index + 1) * size),
    ),
  );
}

async function storePart(
  client: MemoryClient,
  userId: string,
  way: Way,
  part: Turn[],
): Promise<string> {
  if (way === 'chat') {
    const messages = part.map(({ role, text, at }) => ({ role, content: text, timestamp: at }));
    return (await client.ingest.chat({ userId, messages })).memoryId;
  }
  const [{ text, role, at } = { text: '' }] = part;
  if (way === 'document') {
    return (await client.ingest.document({ userId, data: { text } })).memoryId;
  }
  const metadata = role === undefined ? {} : { role };
  return (await client.save({ userId, content: text, metadata, occurredAt: at })).id;
}

async function contentsOf(client: MemoryClient, userId: string): Promise<Turn[]> {
  const turns: Turn[] = [];
  for await (const { id, content } of client.export({ userId })) {
    turns.push({ id, session: '', text: content });
  }
  return turns;
}
