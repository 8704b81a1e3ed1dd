import type { FilterFields } from '../../sdk/contract/filter.ts';
import type { JsonValue } from '../../sdk/contract/text.ts';
import { optionalTimeMs } from '../../sdk/contract/times.ts';
import type { Filter, StoredMemory } from '../storage/types/memories.ts';

/** A filter in a query, where times are strings. */
type QueriedFilter = FilterFields & { from?: string; to?: string };

export function isUnfiltered({ metadata, ...rest }: Filter): boolean {
  return metadata.length === 0 && Object.values(rest).every((value) => value === null);
}

/**
 * Returns a query's filter. The order of the parameters does not matter. A cursor contains a hash
 * of the filter as JSON, so the order of the fields must not change.
 */
export function filterOf(fields: QueriedFilter): Filter {
  const { type, status, source, externalId, from, to, metadata = {} } = fields;
  return {
    from: optionalTimeMs(from),
    to: optionalTimeMs(to),
    type: type ?? null,
    status: status ?? null,
    source: source ?? null,
    externalId: externalId ?? null,
    metadata: Object.entries(metadata)
      .map(([key, value]) => ({ key, value: String(value) }))
      .sort((a, b) => (a.key < b.key ? -1 : 1)),
  };
}

/**
 * Whether the metadata (JSON text) has every key of the filter with a matching value. Strings are
 * compared by content; numbers and booleans are compared by their JSON text. An array matches if
 * any element does.
 */
export function matchesMetadata(json: string, wanted: Filter['metadata']): boolean {
  if (wanted.length === 0) return true; // mutate-ignore removal: every() is true for no filters
  const metadata: { [key: string]: JsonValue } = JSON.parse(json);
  return wanted.every(({ key, value }) => {
    const found = Object.hasOwn(metadata, key) ? metadata[key] : undefined;
    return Array.isArray(found) ? found.some((one) => isText(one, value)) : isText(found, value);
  });
}

export function matches(memory: Omit<StoredMemory, 'content'>, filter: Filter): boolean {
  const { type, status, source, externalId, from, to, metadata } = filter;
  const time = memory.occurredAt ?? memory.createdAt;
  return (
    (type === null || memory.type === type) &&
    (status === null || memory.status === status) &&
    (source === null || memory.source === source) &&
    (externalId === null || memory.externalId === externalId) &&
    (from === null || time >= from) &&
    (to === null || time < to) &&
    matchesMetadata(memory.metadata, metadata)
  );
}

function isText(found: JsonValue | undefined, value: string): boolean {
  if (typeof found === 'string') return found === value;
  return (typeof found === 'number' || typeof found === 'boolean') && String(found) === value;
}

/** How many texts a statement searches for: few numbers, so that few statements are prepared. */
const sizes = [0, 4, 16];
const maxTexts = 64;

/**
 * Returns strings that occur in the JSON of all matching metadata, filled up with empty strings.
 * They only narrow down the rows; `matches` then applies the exact filter.
 */
export function necessaryTexts(wanted: Filter['metadata']): string[] {
  const texts = wanted.flatMap(({ key, value }) => [
    JSON.stringify(key),
    // mutate-ignore constant: matches() filters the rows
    JSON.stringify(value).slice(1, -1),
  ]);
  const size = sizes.find((one) => one >= texts.length) ?? maxTexts;
  return Array.from({ length: size }, (_, index) => texts[index] ?? '');
}
