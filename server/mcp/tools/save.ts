import type { JsonValue, Memory } from '../../../sdk/index.ts';
import type { SaveArguments } from './arguments.ts';
import { adviceOn } from './errors.ts';
import type { Session } from './session.ts';
import { headOf, oneLine } from './text.ts';

const source = 'mcp';
const maxSimilar = 3;
/** The share of the score of the saved text itself, above which another memory is similar. */
const similarShare = 0.35;
const queryCharacters = 1_000;

/**
 * Saves under a name, so that a repeated call stores nothing twice: the key that was given, or a
 * hash of the text. Not under an idempotency key: after a delete that would return the id of the
 * deleted memory.
 */
export async function saveMemory(args: SaveArguments, session: Session): Promise<string> {
  const { client, userId } = session;
  const { content, metadata } = args;
  const { externalId, known } = await find(args, session);
  if (known !== undefined && holds(known, args)) return `Already remembered: ${known.id}`;
  const request = { userId, content, source, externalId, ...(metadata && { metadata }) };
  const { data: saved, response } = await client.save(request).withResponse();
  const outcome = response.status === 201 ? 'Saved' : 'Updated';
  return [`${outcome}: ${saved.id}`, ...(await similarTo(saved.id, content, session))].join('\n');
}

type Found = { externalId: string; known: Memory | undefined };

/** The name to save under, and the memory that has it. */
async function find({ key, content }: SaveArguments, session: Session): Promise<Found> {
  if (key !== undefined) return { externalId: key, known: await named(key, session) };
  const name = nameOf(content);
  for (let count = 1; ; count += 1) {
    const externalId = count === 1 ? name : `${name}:${count}`;
    const known = await named(externalId, session);
    // One that was updated since has another text, which is not to be overwritten.
    if (known === undefined || isSame(known.content, content)) return { externalId, known };
  }
}

async function named(externalId: string, session: Session): Promise<Memory | undefined> {
  const { client, userId } = session;
  const { items } = await client.list({ userId, source, externalId, limit: 1 });
  return items[0];
}

function nameOf(content: string): string {
  const hash = new Bun.CryptoHasher('sha256').update(normalized(content));
  return `text:${hash.digest('base64url')}`;
}

function isSame(one: string, other: string): boolean {
  return normalized(one) === normalized(other);
}

/** Case stays: it can be all that two texts differ in. */
function normalized(text: string): string {
  return text.normalize('NFC').replace(/\s+/g, ' ').trim();
}

function holds(known: Memory, { content, metadata }: SaveArguments): boolean {
  if (!isSame(known.content, content)) return false;
  return metadata === undefined || Bun.deepEquals(known.metadata, metadata as JsonValue);
}

/** What the user may have meant to update. */
async function similarTo(id: string, content: string, session: Session): Promise<string[]> {
  const { client, userId, onError } = session;
  const query = [...content.slice(0, queryCharacters * 2)].slice(0, queryCharacters).join('');
  const search = client.search({ userId, query, limit: maxSimilar + 1 });
  // It is saved, whatever becomes of the search.
  const { items } = await search.catch((error) => {
    if (adviceOn(error) === undefined) onError(error);
    return { items: [] };
  });
  const own = items.find((found) => found.id === id)?.score ?? Number.POSITIVE_INFINITY;
  return items
    .filter((found) => found.id !== id && found.score >= own * similarShare)
    .map((found) => `Similar: ${headOf(found)}: ${oneLine(found.snippet)}`);
}
