import type { MemoryClient } from '../../sdk/index.ts';
import { isHeldOut, type Turn, type User } from './data.ts';
import { fts5 } from './engines.ts';
import { type Scores, scoresOf } from './measure.ts';
import type { DataSet, Way } from './sets.ts';

/** The scores of the service and of FTS5 for one question. */
export type Answer = { kind: string; ours: Scores; fts5: Scores };

const most = 10;
const messagesPerChat = 10;

type Asking = { client: MemoryClient; clock: { nowMs: number }; set: DataSet; heldOut: boolean };

/**
 * Saves the memories of a set in a running service, and asks the questions of one half. Sets the
 * service's clock to the time at which a question is asked, if it is known.
 */
export async function answersOf({ client, clock, set, heldOut }: Asking): Promise<Answer[]> {
  const { name, way, users } = set;
  const answers: Answer[] = [];
  for (const user of users) {
    const questions = user.questions.filter((question) => isHeldOut(question) === heldOut);
    if (questions.length === 0) continue;
    const userId = `${name}/${user.name}`;
    clock.nowMs = Date.now();
    const turnsOf = await store(client, userId, way, user);
    const baseline = fts5(await contentsOf(client, userId), most);
    for (const { kind, evidence, text, askedAt } of questions) {
      clock.nowMs = askedAt === undefined ? Date.now() : Date.parse(askedAt);
      const { items } = await client.search({ userId, query: text, limit: most });
      const score = (ids: string[]) =>
        scoresOf(
          evidence,
          ids.map((id) => turnsOf.get(id) ?? []),
        );
      answers.push({ kind, ours: score(items.map(({ id }) => id)), fts5: score(baseline(text)) });
    }
  }
  return answers;
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
