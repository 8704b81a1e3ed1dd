import type { Accepted, CallOptions, MemoryClient, RecordType } from '../../sdk/index.ts';
import { connect } from '../client/connect.ts';
import type { GlobalOptions } from '../commander.ts';
import { CliError } from '../errors.ts';
import { refuseToOverwrite, writeOptions } from '../options.ts';
import { inputName } from '../terminal/input.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { runBatch } from './batch.ts';
import { openRecords } from './input.ts';
import { type BulkOptions, reportIngest } from './wait.ts';

export type FileOptions = GlobalOptions & BulkOptions;

/** The endpoint for a single record. If it has a type, the records do not require one. */
export type Endpoint = {
  type?: RecordType;
  send(client: MemoryClient, record: unknown, options: CallOptions): Promise<Accepted>;
};

export async function ingestFile(
  term: Terminal,
  path: string,
  options: FileOptions,
  endpoint: Endpoint,
): Promise<void> {
  refuseToOverwrite(path, options.errorsOut);
  const client = await connect(term, options);
  const input = await openRecords(term, path);
  const { type } = endpoint;
  if ('lines' in input) return runBatch(term, client, input, { ...options, type });
  const record = withoutType(input.record, path, type);
  const accepted = await endpoint.send(client, record, writeOptions(term, options));
  await reportIngest(term, client, accepted, options);
}

function withoutType(record: unknown, path: string, type: RecordType | undefined): unknown {
  const named = typeof record === 'object' && record !== null && 'type' in record;
  if (type === undefined || !named) return record;
  const { type: own, ...rest } = record;
  if (own === type) return rest;
  throw new CliError(
    'invalid_request',
    `${inputName(path)} contains a record of type ${JSON.stringify(own)}, not ${type}.`,
    `To ingest a record of any type: memory ingest record ${path}`,
  );
}
