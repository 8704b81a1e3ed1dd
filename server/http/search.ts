import { Elysia } from 'elysia';
import { limits } from '../../sdk/contract/limits.ts';
import { type SearchMode, SearchQuery } from '../../sdk/contract/search.ts';
import { badRequest } from '../errors.ts';
import { filterOf } from '../memory/filter.ts';
import { count } from '../metrics/counts.ts';
import { unavailable } from '../storage/refusals.ts';
import type { ItemsJson, Search } from '../storage/types/memories.ts';
import type { Auth } from './auth.ts';
import { readBy } from './authenticate.ts';
import { querySchema } from './schema.ts';
import type { RouteServices, Services } from './services.ts';

type Read = Omit<Search, 'meaning'>;
type Meaning = 'used' | 'partial' | 'off' | 'unavailable';

const modelFails = 'the model for searches by meaning does not answer; use mode=words or try again';
/** A search waits for the vectors of up to this many new memories. */
const maxNewMemories = 64; // mutate-ignore constant: one more is embedded later

export function search({ byMethod: auth }: Auth, services: RouteServices) {
  const { now, waitLonger, mcp, sender } = services;
  const find = createSearch(services);
  return new Elysia({ prefix: '/v1/memories' }).use(auth).get(
    '/search',
    async ({ request, caller, query: { query, ...options }, set }) => {
      const { userId, limit = limits.searchItemsDefault, mode = 'auto', explain = false } = options;
      const sought = { userId, query, filter: filterOf(options), limit, explain };
      const read = { ...readBy(caller, now()), ...sought, range: mcp.rangeOf(request) };
      waitLonger(request);
      const { items, meaning } = await find(mode, read, request.signal);
      count('memory_searches_total', { mode, meaning });
      return sender.items(set, caller, items, `,"meaning":"${meaning}"`);
    },
    { query: querySchema(SearchQuery) },
  );
}

/**
 * Creates the search by words and by meaning. Without a model, or if it fails, the search uses
 * words alone, unless the mode is `meaning`.
 */
function createSearch({ storage, embedder }: Pick<Services, 'storage' | 'embedder'>) {
  async function ask(mode: SearchMode, { projectId, query }: Read) {
    if (mode === 'words') return null;
    if (embedder === null) {
      if (mode === 'auto') return null;
      throw badRequest('mode', 'must be auto or words, because this service has no model');
    }
    const answer = await embedder.ask(projectId, query);
    if (mode === 'auto') return answer;
    if (answer === 'unavailable') throw unavailable(modelFails);
    if (answer === null) {
      const message = 'the model does not know its script, or rejects it; use the mode words';
      throw badRequest('query', message);
    }
    return answer;
  }

  return async function find(
    mode: SearchMode,
    read: Read,
    signal: AbortSignal,
  ): Promise<{ items: ItemsJson; meaning: Meaning }> {
    const question = await ask(mode, read);
    if (question === 'unavailable') {
      const { items } = await storage.searchMemories(read, signal);
      return { items, meaning: 'unavailable' };
    }
    const meaning = question === null ? null : { ...question, alone: mode === 'meaning' };
    const whole = { ...read, meaning };
    const found = await storage.searchMemories(whole, signal);
    if (found.meaning !== 'partial') return found;
    const { projectId, userId } = read;
    const user = { projectId, userId };
    if (found.missing > maxNewMemories) {
      embedder?.noteSearch(user);
      return found;
    }
    const foundNothing = found.items.join('') === '[]';
    await embedder?.embedNow(user, { missing: found.missing, foundNothing });
    return storage.searchMemories(whole, signal);
  };
}
