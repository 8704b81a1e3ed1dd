import type { Accepted, CallOptions, MemoryClient, RecordType } from '../../sdk/index.ts';
import { connect } from '../client/connect.ts';
import { CliError } from '../client/errors.ts';
import type { GlobalOptions } from '../commander.ts';
import { refuseToOverwrite, writeOptions } from '../options.ts';
import { decodeText, inputName, parseJson, readUtf8 } from '../terminal/input.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { runBatch } from './batch.ts';
import { type AfterIngest, reportIngest } from './ingest-report.ts';
import type { BatchInput } from './input.ts';
import { chain, type Line, readLines } from './lines.ts';

export type FileOptions = GlobalOptions &
  AfterIngest & { idempotencyKey?: string | undefined; errorsOut?: string | undefined };

/** The endpoint a single record goes through. With a type, records need not name it. */
export type Endpoint = {
  type?: RecordType;
  send(client: MemoryClient, record: unknown, options: CallOptions): Promise<Accepted>;
};

/** Ingests a file of one record, or of many: one on each line, or a JSON array. */
export async function ingestFile(
  term: Terminal,
  path: string,
  options: FileOptions,
  endpoint: Endpoint,
) {
  refuseToOverwrite(path, options.errorsOut);
  const client = await connect(term, options);
  const input = await readInput(term, path);
  if ('lines' in input) return runBatch(term, client, input, { ...options, type: endpoint.type });
  const record = withoutType(input.record, path, endpoint.type);
  const accepted = await endpoint.send(client, record, writeOptions(term, options));
  await reportIngest(term, client, accepted, options);
}

/** If the first line is a whole JSON value and a second line follows, the file is JSON lines. */
async function readInput(term: Terminal, path: string): Promise<BatchInput | { record: unknown }> {
  const lines = readLines(readUtf8(term, path));
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
