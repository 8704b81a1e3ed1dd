import type { MessagePort } from 'node:worker_threads';
import { createChannel } from '../../threads/channel.ts';
import { createConnectedStorage } from '../connected-storage.ts';
import type { ConnectedStorage } from '../storage.ts';
import { createConnectedEngine } from './client.ts';
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
  const channel = createChannel((message) => port.postMessage(message));
  port.on('message', channel.receive);
  const db = openForReading(path);
  return {
    ...createConnectedStorage(createConnectedEngine(channel, createTx(db))),
    async close() {
      db.close(true);
      port.close();
    },
  };
}
