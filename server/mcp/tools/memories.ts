import type { ListQuery, Memory, SearchQuery } from '../../../sdk/index.ts';
import { NoSuchMemory } from './errors.ts';
import { type ContentRange, noContent, type Session } from './session.ts';
import { contentPart, cutLine, headOf, oneLine } from './text.ts';

export const defaults = { searchLimit: 8, listLimit: 20 };

const pageCharacters = 8_000;
const lineCharacters = 200;
/** Enough for a line even if most of it is white space, and one more to detect a longer text. */
const beginning: ContentRange = { offset: 0, length: lineCharacters * 4 + 1 };
/** No text is longer. A database may not accept a larger offset. */
const maxOffset = 2 ** 30;

type SearchArguments = Pick<SearchQuery, 'query' | 'limit' | 'type' | 'source' | 'from' | 'to'>;

const none = 'No memory matches the query. Try other words, or call list_memories.';
const noneFiltered =
  'No memory matches the query and these filters. Try without from, to, type and source.';

export async function searchMemories(args: SearchArguments, session: Session): Promise<string> {
  const { limit = defaults.searchLimit, query, ...filters } = args;
  const all: SearchQuery = { ...filters, query, limit, userId: session.userId };
  const { items } = await session.clientFor(noContent).search(all);
  if (items.length === 0) return Object.keys(filters).length > 0 ? noneFiltered : none;
  return items.map((found) => `${headOf(found)}: ${oneLine(found.snippet)}`).join('\n');
}

export async function getMemory(
  { id, offset = 0 }: { id: string; offset?: number },
  session: Session,
): Promise<string> {
  const range = { offset: Math.min(offset, maxOffset), length: pageCharacters };
  const memory = await ownMemory(id, session, range);
  const { metadata, version } = memory;
  const { part, length } = contentPart(memory, range);
  const about = Object.keys(metadata).length === 0 ? '' : `, metadata ${JSON.stringify(metadata)}`;
  const head = offset === 0 ? `${headOf(memory)}, version ${version}${about}\n\n` : '';
  if (part === '') return `The text has ${length} characters: offset ${offset} is past its end.`;
  const next = offset + pageCharacters;
  if (next >= length) return head + part;
  const left = (length - next).toLocaleString('en');
  return `${head}${part}\n\n${left} more characters: call again with offset ${next}.`;
}

type ListArguments = Pick<ListQuery, 'limit' | 'cursor' | 'type' | 'source'>;

export async function listMemories(args: ListArguments, session: Session): Promise<string> {
  const { limit = defaults.listLimit, ...rest } = args;
  const client = session.clientFor(beginning);
  const page = await client.list({ ...rest, limit, userId: session.userId });
  const lines = page.items.map((memory) => {
    return cutLine(`${headOf(memory)}: ${memory.content}`, lineCharacters);
  });
  const end =
    page.nextCursor === null
      ? 'End of the list.'
      : `To get more, repeat this call with cursor ${page.nextCursor}`;
  return [...lines, end].join('\n');
}

type UpdateArguments = { id: string; content: string; expectedVersion?: number };

export async function updateMemory(
  { id, content, expectedVersion }: UpdateArguments,
  session: Session,
): Promise<string> {
  await ownMemory(id, session);
  const condition = expectedVersion === undefined ? {} : { ifVersion: expectedVersion };
  await session.client.update(id, { content }, condition);
  return `Updated: ${id}`;
}

export async function deleteMemory({ id }: { id: string }, session: Session): Promise<string> {
  await ownMemory(id, session);
  await session.client.delete(id);
  return `Deleted: ${id}`;
}

/** Checks a memory's user, because a project-wide key can read all users' memories. */
async function ownMemory(
  id: string,
  { clientFor, userId }: Session,
  range = noContent,
): Promise<Memory> {
  const memory = await clientFor(range).get(id);
  if (memory.userId !== userId) throw new NoSuchMemory();
  return memory;
}
