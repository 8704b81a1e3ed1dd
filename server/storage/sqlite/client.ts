import { createChannel, portOf } from '../../threads/channel.ts';
import type { Engine, Tx, WriteOperation } from '../engine.ts';
import { type ConnectedStorage, createConnectedStorage, nameOf } from '../storage.ts';
import { notRead } from './errors.ts';
import { openForReading } from './settings.ts';
import { createTx } from './transaction.ts';

/** The storage of other threads: a connection of their own, and a port to the writer thread. */
export function connectSqlite({
  path,
  port,
}: {
  path: string;
  port: MessagePort;
}): ConnectedStorage {
  const db = openForReading(path);
  const engine = { write: writeThrough(port), readShort: readThrough(createTx(db)) };
  return {
    ...createConnectedStorage(engine),
    async close() {
      db.close(true);
      port.close(); // mutate-ignore removal: the thread ends
    },
  };
}

/** Writes through a port to the writer thread, which returns what the operation returns. */
export function writeThrough(port: MessagePort): Engine['write'] {
  const channel = createChannel((message) => port.postMessage(message));
  portOf(port).listen(channel.receive);
  return <Input, Result>(operation: WriteOperation<Input, Result>, input: Input) =>
    channel.call(nameOf(operation), input) as Promise<Result>;
}

export function readThrough(tx: Tx): Engine['readShort'] {
  return async ({ run }, input) => {
    try {
      return await run(tx, input);
    } catch (error) {
      throw notRead(error);
    }
  };
}
