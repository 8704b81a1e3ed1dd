import { badRequest } from './parse.ts';

export function searchOf(url: string): string {
  const begin = url.indexOf('?');
  if (begin < 0) return '';
  const end = url.indexOf('#', begin);
  return url.slice(begin + 1, end < 0 ? undefined : end);
}

/**
 * Parses a URL's query, in which each parameter may occur only once. Unlike URLSearchParams, this
 * rejects invalid UTF-8, because such text could not be returned unchanged.
 */
export function readQuery(url: string): Record<string, string> {
  const query: Record<string, string> = Object.create(null);
  const search = searchOf(url);
  if (search === '') return query;
  for (const part of search.split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = decode(equals < 0 ? part : part.slice(0, equals));
    if (name === '') throw badRequest('', 'the query contains a parameter without a name');
    if (name in query) throw badRequest(name, 'must not be repeated');
    query[name] = equals < 0 ? '' : decode(part.slice(equals + 1));
  }
  return query;
}

/** Throws `invalid_request` if the URL has a query parameter. Used by routes that accept none. */
export function readNoQuery(request: Request): void {
  if (!request.url.includes('?')) return;
  const [name] = Object.keys(readQuery(request.url));
  if (name !== undefined) throw badRequest(name, 'is not a known query parameter');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw badRequest('', 'the query is not valid percent-encoded UTF-8');
  }
}

/** Converts `limit` to a number if it is a whole number. The schema rejects any other value. */
export function withLimit(query: Record<string, string>): Record<string, unknown> {
  const { limit } = query;
  if (limit === undefined || !/^-?\d{1,15}$/.test(limit)) return query;
  return { ...query, limit: Number(limit) };
}

/** Converts a parameter to a boolean if it is `true` or `false`. */
export function withBoolean(query: Record<string, unknown>, name: string): Record<string, unknown> {
  const value = query[name];
  return value === 'true' || value === 'false' ? { ...query, [name]: value === 'true' } : query;
}

/** Groups the `metadata[key]` parameters under `metadata`. */
export function withMetadata(query: Record<string, unknown>): Record<string, unknown> {
  const rest: Record<string, unknown> = Object.create(null);
  const metadata: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(query)) {
    const [, key] = /^metadata\[(.+)\]$/s.exec(name) ?? [];
    if (key?.includes('][')) throw badRequest(name, 'must name a top-level key of the metadata');
    if (key === undefined) rest[name] = value;
    else metadata[key] = value;
  }
  if ('metadata' in rest) throw badRequest('metadata', 'must be written as metadata[key]=value');
  return Object.keys(metadata).length === 0 ? rest : { ...rest, metadata };
}
