import type { JsonValue, Memory } from '../../../sdk/index.ts';
import { adviceOn } from './errors.ts';
import { externalIdOf, source } from './key.ts';
import { type ContentRange, noContent, type Session } from './session.ts';
import { headOf, oneLine } from './text.ts';

const maxSimilar = 3;
/**
 * A memory is similar if its score is at least this share of the saved memory's own score: by words
 * alone, and by words and meaning, which are squared.
 */
const similarShare = { words: 0.35, meaning: 0.15 };
const queryCharacters = 1_000;

type SaveArguments = { content: string; key?: string; metadata?: object };

/**
 * Saves with an external id, which is the given key or a hash of the text, so that a repeated call
 * does not store the text twice. With an idempotency key instead, a repeated call would return the
 * memory's id even after the memory is deleted.
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

/** Returns the external id to save with, and the memory that already has it, if any. */
async function find({ key, content }: SaveArguments, session: Session): Promise<Found> {
  if (key !== undefined) return { externalId: key, known: await named(key, session) };
  const name = externalIdOf(normalized(content));
  for (let count = 1; ; count += 1) {
    const externalId = count === 1 ? name : `${name}:${count}`;
    const known = await named(externalId, session);
    // An updated memory has a different text, which must not be overwritten.
    if (known === undefined || isSame(known.content, content)) return { externalId, known };
  }
}

/** Longer texts cannot be saved, so they cannot equal the text that the tool saves. */
const savable: ContentRange = { offset: 0, length: 65_537 };

async function named(externalId: string, session: Session): Promise<Memory | undefined> {
  const { clientFor, userId } = session;
  const { items } = await clientFor(savable).list({ userId, source, externalId, limit: 1 });
  return items[0];
}

function isSame(one: string, other: string): boolean {
  return normalized(one) === normalized(other);
}

/** More marks than any word has. To put them in order takes time quadratic in their number. */
const longRunOfMarks = /\p{M}{31}/u;

/** Normalizes Unicode and white space. Case is kept, because two items can differ only in case. */
function normalized(text: string): string {
  const composed = longRunOfMarks.test(text) ? text : text.normalize('NFC');
  return composed.replace(/\s+/g, ' ').trim();
}

function holds(known: Memory, { content, metadata }: SaveArguments): boolean {
  if (!isSame(known.content, content)) return false;
  return metadata === undefined || Bun.deepEquals(known.metadata, metadata as JsonValue);
}

/** Returns similar memories, because the user may have meant to update one of them. */
async function similarTo(id: string, content: string, session: Session): Promise<string[]> {
  const { clientFor, userId, onError } = session;
  const query = [...content.slice(0, queryCharacters * 2)].slice(0, queryCharacters).join('');
  const search = clientFor(noContent).search({ userId, query, limit: maxSimilar + 1 });
  // The text is already saved, so a failed search must not fail the call.
  const { items, meaning } = await search.catch((error) => {
    // mutate-ignore removal: only a bug has no advice
    if (adviceOn(error) === undefined) onError(error);
    return { items: [], meaning: 'off' };
  });
  const isMeant = meaning === 'used' || meaning === 'partial';
  const share = isMeant ? similarShare.meaning : similarShare.words;
  const own = items.find((found) => found.id === id)?.score ?? Number.POSITIVE_INFINITY;
  return items
    .filter((found) => found.id !== id && found.score >= own * share)
    .map((found) => `Similar: ${headOf(found)}: ${oneLine(found.snippet)}`);
}
