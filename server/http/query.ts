import type { TProperties } from '@sinclair/typebox';
import { badRequest } from '../errors.ts';

function searchOf(url: string): string {
  const begin = url.indexOf('?');
  // mutate-ignore boundary: a URL begins with its scheme
  // mutate-ignore constant: a URL begins with its scheme
  if (begin < 0) return '';
  const end = url.indexOf('#', begin);
  // mutate-ignore boundary: a fragment begins after the query
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

/** Throws `invalid_request` if the URL has a query parameter. */
export function readNoQuery(url: string): Record<string, never> {
  const [name] = Object.keys(readQuery(url));
  if (name !== undefined) throw badRequest(name, 'is not a known query parameter');
  return {};
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw badRequest('', 'the query is not valid percent-encoded UTF-8');
  }
}

/** Converts parameters to the types of a schema. The validator rejects text that does not fit. */
export function withTypes(
  query: Record<string, string>,
  properties: TProperties,
): Record<string, unknown> {
  const typed: Record<string, unknown> = { ...query };
  for (const [name, text] of Object.entries(query)) {
    const type = properties[name]?.type;
    if (type === 'integer' && /^-?\d{1,15}$/.test(text)) typed[name] = Number(text);
    if (type === 'boolean' && /^(?:true|false)$/.test(text)) typed[name] = text === 'true';
  }
  return 'metadata' in properties ? withMetadata(typed) : typed;
}

/** Groups the `metadata[key]` parameters under `metadata`. */
function withMetadata(query: Record<string, unknown>): Record<string, unknown> {
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
