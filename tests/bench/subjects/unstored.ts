/*
 * The whole service over another storage: one that stores nothing, which shows what the key, the
 * schema, the request id and the log cost, or with a `store` one that commits every save by
 * itself. Its argument: { env, store }.
 */
import { createApp } from '../../../server/app.ts';
import { readConfig } from '../../../server/config.ts';
import { createAuthenticator } from '../../../server/http/authenticate.ts';
import { newMemoryId } from '../../../server/ids.ts';
import { createLogger, jsonLine, stderrSink } from '../../../server/log.ts';
import type { Storage } from '../../../server/storage/storage.ts';
import { listenOn } from './listen.ts';
import { openSingle, type SingleStore } from './single.ts';

type Spec = {
  env: Record<string, string>;
  store?: SingleStore;
};

const { env, store } = JSON.parse(process.argv[2] ?? '') as Spec;
const single = store === undefined ? null : openSingle(store);
const config = readConfig(env);
const sink = stderrSink(jsonLine);
const now = Date.now;
const clock = () => performance.now();

const own: Pick<Storage, 'saveMemory'> = {
  async saveMemory({ memory, at, answer }) {
    const stored = { ...memory, status: 'complete' as const, createdAt: at, updatedAt: at };
    single?.save(stored, memory.passages);
    return { answer: answer(stored), replayed: false };
  },
};
const storage = own as Storage;
const fixed = { key: config.apiKey ?? '', projectId: 1 };

const app = createApp({
  storage,
  worker: { wake() {}, async stop() {}, movedAt: now },
  authenticator: createAuthenticator({ storage, now, clock, fixed }),
  config,
  log: createLogger(config.logLevel, sink.write),
  version: '0',
  now,
  clock,
  newId: newMemoryId,
  addressOf: () => '127.0.0.1',
  waitLonger() {},
  closeSoon() {},
  unavailableReason: () => null,
});

listenOn(app.fetch, () => single?.close());
