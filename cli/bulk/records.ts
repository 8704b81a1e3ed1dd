import { isUtf8 } from 'node:buffer';
import type { RecordType } from '../../sdk/index.ts';
import { errorText } from '../errors.ts';
import { holdsSoLarge, isObject, soLarge } from '../terminal/json.ts';

/** A line of a file, numbered from 1. A line that is too long has no bytes. */
export type Line = { number: number; bytes: Uint8Array; tooLong: boolean };

/** A parsed line. The service validates `item`. */
export type Entry = { line: number; text: string; item: unknown };

export type BadLine = { line: number; error: string; message: string; text: string };

type Fields = Record<string, unknown>;

/** Parses one line as a record. If `type` is defined, a record of another type is invalid. */
export function parseRecord(line: Line, type: RecordType | undefined): Entry | BadLine {
  const { number, bytes, tooLong } = line;
  // A line that is not UTF-8 keeps its text, with replacement characters, so that users can correct
  // the line.
  const text = tooLong ? '' : new TextDecoder().decode(bytes).trim();
  const bad = (error: string, message: string) => ({ line: number, error, message, text });
  if (tooLong) return bad('payload_too_large', 'the line is longer than 32 MiB');
  if (!isUtf8(bytes)) return bad('invalid_text', notUtf8(line));
  try {
    const item: unknown = JSON.parse(text);
    if (holdsSoLarge(item)) return bad('invalid_request', soLarge);
    if (type === undefined) return { line: number, text, item: recognized(item) };
    if (!isObject(item)) return bad('invalid_request', 'must be an object');
    if ((item.type ?? type) !== type) return bad('invalid_request', `type: must be ${type}`);
    // The chat endpoint accepts `messages` at the top level; a batch does not.
    const record = 'messages' in item ? withData(item) : item;
    return { line: number, text, item: { ...record, type } };
  } catch (error) {
    const reason = errorText(error).replace(/^JSON Parse error: /, '');
    return bad('invalid_json', `is not valid JSON: ${reason}`);
  }
}

/**
 * Suggests converting only this line, because converting the whole file could change the
 * idempotency keys of other lines.
 */
function notUtf8({ number, bytes }: Line): string {
  if (bytes.includes(0)) return 'is binary data, not text';
  const inUtf8 = `sed -n ${number}p <file> | iconv -f WINDOWS-1252 -t UTF-8`;
  return `is not UTF-8 text; if this line is Windows-1252, convert it with: ${inUtf8}`;
}

function recognized(item: unknown): unknown {
  if (!isObject(item) || 'type' in item) return item;
  const record = withData(item);
  const type = isObject(record.data) ? typeOf(record.data) : undefined;
  return type === undefined ? item : { ...record, type };
}

function typeOf(data: Fields): RecordType | undefined {
  if (Array.isArray(data.messages)) return 'conversation';
  if ('subject' in data && Array.isArray(data.comments)) return 'ticket';
  return typeof data.text === 'string' ? 'document' : undefined;
}

const originFields = ['userId', 'source', 'externalId'];
const recordFields = [...originFields, 'type', 'metadata', 'occurredAt', 'expiresAt'];

/** Moves the data fields from the top level into `data`. */
function withData(item: Fields): Fields {
  if ('data' in item) return item;
  const { record = [], data = [] } = Object.groupBy(Object.entries(item), ([name]) =>
    recordFields.includes(name) ? 'record' : 'data',
  );
  return { ...Object.fromEntries(record), data: Object.fromEntries(data) };
}

export function isBad(parsed: Entry | BadLine): parsed is BadLine {
  return 'error' in parsed;
}

/** Identifies a record's external object. Records of the same object must be sent in order. */
export function pairOf({ item }: Entry): string | undefined {
  // An empty externalId is treated as missing.
  if (!isObject(item) || (item.externalId ?? '') === '') return undefined;
  return JSON.stringify([item.userId, item.source || null, item.externalId]);
}

export function idOf({ item }: Entry): string | undefined {
  return isObject(item) && typeof item.id === 'string' ? item.id : undefined;
}

/** Whether the record has the fields that distinguish `memory export` from other formats. */
export function isExported({ item }: Entry): boolean {
  return isObject(item) && 'id' in item && 'userId' in item && 'content' in item;
}
