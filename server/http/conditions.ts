import * as headerNames from '../../sdk/contract/headers.ts';
import { badRequest } from '../errors.ts';
import type { ExpectedVersion } from '../storage/types/memories.ts';

export function etagOf(version: number): string {
  return `"${version}"`;
}

/**
 * Returns the version in `If-Match`, `any` for `*`, or null if the header is missing. Accepts weak
 * ETags, because a proxy that compresses responses makes their ETags weak.
 */
export function readIfMatch({ headers }: Request): ExpectedVersion {
  const header = headers.get(headerNames.ifMatch)?.trim();
  if (header === undefined) return null;
  if (header === '*') return 'any';
  const [, version] = /^(?:W\/)?"([1-9]\d{0,14})"$/.exec(header) ?? [];
  if (version !== undefined) return Number(version);
  throw badRequest(headerNames.ifMatch, 'must be * or one ETag of the memory, such as "3"');
}

/** Throws `invalid_request`, because a client relies on a condition, which must not be ignored. */
export function rejectCondition({ headers }: Request, name: 'If-Match' | 'If-None-Match'): void {
  if (headers.has(name)) throw badRequest(name, 'is not supported by this operation');
}

const etags = /^(?:W\/)?"[^"]*"(?:\s*,\s*(?:W\/)?"[^"]*")*$/;

/** Whether `If-None-Match` contains this version. Throws `invalid_request` if it is malformed. */
export function isKnownVersion({ headers }: Request, version: number): boolean {
  const header = headers.get(headerNames.ifNoneMatch)?.trim();
  if (header === undefined) return false;
  if (header === '*') return true;
  if (etags.test(header))
    return [...header.matchAll(/"[^"]*"/g)].some(([etag]) => etag === etagOf(version));
  throw badRequest(headerNames.ifNoneMatch, 'must be * or a list of ETags, such as "3"');
}
