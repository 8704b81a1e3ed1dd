import type { Accepted, CallOptions, MemoryClient, RecordType } from '../sdk/index.ts';
import { type AfterIngest, tellAccepted } from './accepted.ts';
import { chain, type Line, readLines } from './batch/lines.ts';
import type { BatchInput } from './batch/open.ts';
import { runBatch } from './batch/run.ts';
import type { GlobalOptions } from './commander.ts';
import { connect } from './connect.ts';
import { CliError } from './failure.ts';
import { decodeText, inputName, parseJson, readUtf8 } from './input.ts';
import type { Io } from './io.ts';
import { refuseToOverwrite, writeOptions } from './options.ts';

export type FileOptions = GlobalOptions &
  AfterIngest & { idempotencyKey?: string | undefined; errorsOut?: string | undefined };

/** The door a single record goes through. With a type, records need not name it. */
export type Door = {
  type?: RecordType;
  send(client: MemoryClient, record: unknown, options: CallOptions): Promise<Accepted>;
};

/** Ingests a file of one record, or of many: one on each line, or a JSON array. */
export async function ingestFile(io: Io, path: string, options: FileOptions, door: Door) {
  refuseToOverwrite(path, options.errorsOut);
  const client = await connect(io, options);
  const input = await readInput(io, path);
  if ('lines' in input) return runBatch(io, client, input, { ...options, type: door.type });
  const record = withoutType(input.record, path, door.type);
  const accepted = await door.send(client, record, writeOptions(io, options));
  await tellAccepted(io, client, accepted, options);
}

/** Two lines that each begin a value tell lines of records from one record over several lines. */
async function readInput(io: Io, path: string): Promise<BatchInput | { record: unknown }> {
  const lines = readLines(readUtf8(io, path));
  const first = await lines.next();
  if (first.done) throw new CliError({ code: 'empty', message: `${inputName(path)} is empty.` });
  const second = await lines.next();
  const head = second.done ? [first.value] : [first.value, second.value];
  const manyLines = !second.done && isWhole(first.value);
  if (/\.(jsonl|ndjson)$/i.test(path) || manyLines) {
    return { lines: chain(head, lines), unit: 'line' };
  }
  const pieces: Uint8Array[] = [];
  for await (const { bytes } of chain(head, lines)) pieces.push(bytes, newline);
  const record = parseJson(decodeText(Buffer.concat(pieces), path), path);
  return Array.isArray(record) ? { lines: items(record), unit: 'item' } : { record };
}

const newline = new Uint8Array([10]);

function isWhole({ bytes }: Line): boolean {
  try {
    return typeof JSON.parse(new TextDecoder().decode(bytes)) === 'object';
  } catch {
    return false;
  }
}

async function* items(records: unknown[]): AsyncGenerator<Line> {
  for (const [index, record] of records.entries()) {
    const bytes = Buffer.from(JSON.stringify(record));
    yield { number: index + 1, end: 0, bytes, tooLong: false };
  }
}

function withoutType(record: unknown, path: string, type: RecordType | undefined): unknown {
  const named = typeof record === 'object' && record !== null && 'type' in record;
  if (type === undefined || !named) return record;
  const { type: own, ...rest } = record;
  if (own === type) return rest;
  throw new CliError({
    code: 'invalid_request',
    message: `${inputName(path)} holds a record of type ${JSON.stringify(own)}, not ${type}.`,
    hint: `Any record: memory ingest record ${path}`,
  });
}
