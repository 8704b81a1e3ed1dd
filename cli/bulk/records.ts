import { isUtf8 } from 'node:buffer';
import { exactNumber, holdsInexact, inexactNumber } from '../../sdk/contract/numbers.ts';
import type { RecordType } from '../../sdk/index.ts';
import { errorText } from '../errors.ts';
import { isObject } from '../terminal/json.ts';

/** Where a record comes from: a line of JSON Lines, an item of a JSON array, or a file. */
export type Where = { line?: number; item?: number; file?: string };

/** A record to send. The service validates `item`. */
export type Entry = { where: Where; text: string; item: unknown };

/** A record that was not accepted, with its text for correction. */
export type Rejected = { where: Where; text: string; error: string; message: string };

/** A line before it is parsed. A line that is too long has no bytes. */
export type Line = { where: Where; bytes: Uint8Array; tooLong?: boolean };

type Fields = Record<string, unknown>;

export function isRejected(parsed: Entry | Rejected): parsed is Rejected {
  return 'error' in parsed;
}

/** Parses one line as a record, of the given type if it has none. */
export function parseRecord(
  { where, bytes, tooLong }: Line,
  type: RecordType | undefined,
): Entry | Rejected {
  // A line that is not UTF-8 keeps its text, with replacement characters, for correction.
  const text = new TextDecoder().decode(bytes).trim();
  const rejected = (error: string, message: string) => ({ where, text, error, message });
  if (tooLong) return rejected('payload_too_large', 'the line is longer than 32 MiB');
  if (!isUtf8(bytes)) return rejected('invalid_text', 'is not UTF-8 text');
  try {
    const item: unknown = JSON.parse(text, exactNumber);
    if (holdsInexact(item)) return rejected('invalid_request', inexactNumber);
    return { where, text, item: recordOf(item, type) };
  } catch (error) {
    const reason = errorText(error).replace(/^JSON Parse error: /, '');
    return rejected('invalid_json', `is not valid JSON: ${reason}`);
  }
}

/** Gives a record without a type its type, and moves its data into `data`. */
export function recordOf(item: unknown, implied: RecordType | undefined): unknown {
  if (!isObject(item) || 'type' in item) return item;
  const record = withData(item);
  const type = implied ?? (isObject(record.data) ? typeOf(record.data) : undefined);
  return type === undefined ? item : { ...record, type };
}

function typeOf(data: Fields): RecordType | undefined {
  if (Array.isArray(data.messages)) return 'conversation';
  if ('subject' in data && Array.isArray(data.comments)) return 'ticket';
  return typeof data.text === 'string' ? 'document' : undefined;
}

const recordFields = ['userId', 'source', 'externalId', 'type'].concat([
  'metadata',
  'occurredAt',
  'expiresAt',
]);

/** Moves the data fields from the top level into `data`. */
function withData(item: Fields): Fields {
  if ('data' in item) return item;
  const { record = [], data = [] } = Object.groupBy(Object.entries(item), ([name]) =>
    recordFields.includes(name) ? 'record' : 'data',
  );
  return { ...Object.fromEntries(record), data: Object.fromEntries(data) };
}

/** Names what the entry changes. Entries with a common name must be sent in order. */
export function namesOf(entry: Entry): string[] {
  const id = isObject(entry.item) ? entry.item.id : undefined;
  return [pairOf(entry), id].filter((name) => typeof name === 'string');
}

/** Identifies a record's external object. */
export function pairOf({ item }: Entry): string | undefined {
  // An empty externalId is treated as missing.
  if (!isObject(item) || (item.externalId ?? '') === '') return undefined;
  return JSON.stringify([item.userId, item.source || null, item.externalId]);
}
