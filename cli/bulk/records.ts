import { isUtf8 } from 'node:buffer';
import type { RecordType } from '../../sdk/index.ts';
import { errorText } from '../errors.ts';
import { holdsSoLarge, soLarge } from '../terminal/json.ts';
import type { Line } from './lines.ts';
import type { Problem } from './report.ts';

/** What JSON.parse() gives. The service validates it, as it does the requests of other clients. */
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
type JsonObject = { [name: string]: Json };

export type Entry = { line: number; text: string; item: Json };

export type BadLine = { line: number; error: string; message: string; text: string };

/** What the lines of the input are called: JSON given as one array has items. */
export type Unit = 'line' | 'item';

export function problemOf(unit: Unit, { line, error, message, text }: BadLine): Problem {
  return { shown: `${unit} ${line}: ${message}`, json: { line, error, message }, text };
}

/** Reads one line as a record; of the given type, where the command names one. */
export function parseRecord(line: Line, type: RecordType | undefined): Entry | BadLine {
  const { number, bytes, tooLong } = line;
  // With a sign in the place of what is not UTF-8, so that the rest is kept to be corrected.
  const text = tooLong ? '' : new TextDecoder().decode(bytes).trim();
  const bad = (error: string, message: string) => ({ line: number, error, message, text });
  if (tooLong) return bad('payload_too_large', 'the line is longer than any body may be');
  if (!isUtf8(bytes)) return bad('invalid_text', notUtf8(number));
  try {
    const item: Json = JSON.parse(text);
    if (holdsSoLarge(item)) return bad('invalid_request', soLarge);
    if (type === undefined) return { line: number, text, item: recognized(item) };
    if (!isObject(item)) return bad('invalid_request', 'must be an object');
    if ((item.type ?? type) !== type) return bad('invalid_request', `type: must be ${type}`);
    // The chat endpoint takes messages beside `userId`; a batch does not.
    const record = 'messages' in item ? withData(item) : item;
    return { line: number, text, item: { ...record, type } };
  } catch (error) {
    const reason = errorText(error).replace(/^JSON Parse error: /, '');
    return bad('invalid_json', `is not valid JSON: ${reason}`);
  }
}

/** A record without a type is what its data shows; any other value stays as it is. */
function recognized(item: Json): Json {
  if (!isObject(item) || 'type' in item) return item;
  const record = withData(item);
  const type = isObject(record.data) ? typeOf(record.data) : undefined;
  return type === undefined ? item : { ...record, type };
}

function typeOf(data: JsonObject): RecordType | undefined {
  if (Array.isArray(data.messages)) return 'conversation';
  if ('subject' in data && Array.isArray(data.comments)) return 'ticket';
  return typeof data.text === 'string' ? 'document' : undefined;
}

const originFields = ['userId', 'source', 'externalId'];
const recordFields = [...originFields, 'type', 'metadata', 'occurredAt', 'expiresAt'];

/** The fields of the data may stand beside `userId`. */
function withData(item: JsonObject): JsonObject {
  if ('data' in item) return item;
  const { record = [], data = [] } = Object.groupBy(Object.entries(item), ([name]) =>
    recordFields.includes(name) ? 'record' : 'data',
  );
  return { ...Object.fromEntries(record), data: Object.fromEntries(data) };
}

/** Converts this line alone: converting the whole file would change the keys of the other lines. */
function notUtf8(number: number): string {
  const inUtf8 = `sed -n ${number}p <file> | iconv -f WINDOWS-1252 -t UTF-8`;
  return `is not UTF-8 text; if it is in another character set: ${inUtf8}`;
}

export function isBad(parsed: Entry | BadLine): parsed is BadLine {
  return 'error' in parsed;
}

/** What names the thing a record is about, where two records of one must keep their order. */
export function pairOf({ item }: Entry): string | undefined {
  // Empty counts as left out.
  if (!isObject(item) || (item.externalId ?? '') === '') return undefined;
  return JSON.stringify([item.userId, item.source || null, item.externalId]);
}

export function idOf({ item }: Entry): string | undefined {
  return isObject(item) && typeof item.id === 'string' ? item.id : undefined;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
