import type { Channel } from '../../threads/channel.ts';
import type { Engine, ShortRead, Tx, WriteOperation } from '../engine.ts';
import type { StorageFigures, StorageHealth } from '../maintenance-storage.ts';
import { activeProject, createPooledReads } from '../pooled-reads.ts';
import type { ReaderPool } from '../reader-pool.ts';
import { notRead } from './errors.ts';
import type { FileCheck } from './file-identity.ts';
import { logBytes, longLogBytes, sizeOf } from './path.ts';
import type { WriterClient } from './writer-client.ts';

/** The engine of the HTTP thread. */
export function createEngine(parts: { writer: WriterClient; readers: ReaderPool; tx: Tx }): Engine {
  const { writer, readers, tx } = parts;
  return {
    ...createPooledReads(readers),
    write(operation, input) {
      const cost = operation.cost?.(input) ?? 1;
      const projectId = activeProject(readers, input);
      return writer.write({ projectId, operation: operation.name, argument: input, cost });
    },
    readShort(operation, input) {
      activeProject(readers, input);
      return readHere(tx, operation, input);
    },
  };
}

/** The engine of another thread, which has a port to the writer. */
export function createConnectedEngine(
  channel: Channel,
  tx: Tx,
): Pick<Engine, 'write' | 'readShort'> {
  return {
    write: writeThrough(channel),
    readShort: (operation, input) => readHere(tx, operation, input),
  };
}

/** Writes through a port to the writer thread, which returns what the operation returns. */
export function writeThrough(channel: Channel): Engine['write'] {
  return <Input, Result>({ name }: WriteOperation<Input, Result>, input: Input) =>
    channel.call(name, input) as Promise<Result>;
}

async function readHere<Input, Result>(
  tx: Tx,
  { run }: ShortRead<Input, Result>,
  input: Input,
): Promise<Result> {
  try {
    return await run(tx, input);
  } catch (error) {
    throw notRead(error);
  }
}

type Parts = { path: string; fileCheck: FileCheck; writer: WriterClient };

export function stateOf({ path, fileCheck, writer }: Parts): StorageHealth {
  const fault = fileCheck() ?? writer.fault();
  const log = logBytes(path);
  const megabytes = Math.round(log / 1_048_576);
  const isLong = log > longLogBytes; // mutate-ignore boundary: the log is never this long exactly
  const longLog = `the write-ahead log has grown to ${megabytes} MB: a read transaction has been open for too long`;
  return { fault, warning: writer.warning() ?? (isLong ? longLog : null) };
}

export function figuresOf(path: string, lastBackupAt: number | null): StorageFigures {
  return { databaseBytes: sizeOf(path), logBytes: logBytes(path), lastBackupAt };
}
