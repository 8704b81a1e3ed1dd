/*
 * Serves the service's HTTP application with a storage that supports only saves. Without `store`
 * and `postgres`, nothing is stored, so a save costs only auth, the schema, the request id and the
 * log. With a `store`, or the URL of a PostgreSQL database in `postgres`, every save is one commit.
 * The spec is { env, store, postgres }.
 */
import { createApp } from '../../../server/app.ts';
import { readConfig } from '../../../server/config.ts';
import { createAuthenticator } from '../../../server/http/authenticate.ts';
import { newMemoryId } from '../../../server/ids.ts';
import { createLogger, jsonLine, stderrSink } from '../../../server/log.ts';
import { savedResponse } from '../../../server/memory/responses.ts';
import type { Storage } from '../../../server/storage/storage.ts';
import { listenOn } from '../subjects/listen.ts';
import { readSpec } from '../subjects/spec.ts';
import { openPostgresStore } from './postgres-store.ts';
import { openStore, type SingleCommitStore, type StoreOptions } from './store.ts';

type Spec = { env: Record<string, string>; store?: StoreOptions; postgres?: string };

const { env, store: options, postgres } = readSpec<Spec>();
const store = openAny();
const config = readConfig(env);
const sink = stderrSink(jsonLine);
const now = Date.now;
const clock = () => performance.now();

function openAny(): SingleCommitStore | null {
  if (postgres !== undefined) return openPostgresStore(postgres);
  return options === undefined ? null : openStore(options);
}

const onlySaves: Pick<Storage, 'saveMemory'> = {
  async saveMemory({ memory, at }) {
    await store?.save(memory, at);
    return { response: savedResponse(memory, at), replayed: false };
  },
};
const storage = onlySaves as Storage;
const fixed = { key: config.apiKey ?? '', projectId: 1 };

const app = createApp({
  storage,
  tasks: {
    ready: Promise.resolve(),
    wake() {},
    async stop() {},
    movedAt: now,
  },
  embedder: null,
  mcp: {
    handle: () => Promise.reject(new Error('only saves are measured')),
    rangeOf: () => undefined,
  },
  threads: { fault: () => null },
  authenticator: createAuthenticator({ storage, now, clock, fixed }),
  config,
  log: createLogger(config.logLevel, sink.write),
  version: '0',
  homepage: '',
  url: '',
  now,
  clock,
  newMemoryId,
  addressOf: () => '127.0.0.1',
  waitLonger() {},
  inFlight: () => 0,
  closeSoon() {},
  unavailableReason: () => null,
});

listenOn(app.fetch, () => store?.close());
