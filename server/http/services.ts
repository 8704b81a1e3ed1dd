import type { Config } from '../config.ts';
import type { Embedder } from '../embeddings/embedder.ts';
import type { Logger } from '../log.ts';
import type { Mcp } from '../mcp/endpoint.ts';
import type { Storage } from '../storage/storage.ts';
import type { TaskRunner } from '../tasks/runner.ts';
import type { Threads } from '../threads/start.ts';
import type { Authenticator } from './authenticate.ts';
import type { BodyReader } from './body.ts';
import type { Listener } from './listen.ts';
import type { Sender } from './response.ts';

/** What the routes need of the server. */
export type Services = Pick<Listener, 'url' | 'waitLonger' | 'closeSoon' | 'inFlight'> & {
  storage: Storage;
  tasks: TaskRunner;
  /** Null without a model. */
  embedder: Embedder | null;
  mcp: Pick<Mcp, 'handle' | 'rangeOf'>;
  threads: Pick<Threads, 'fault'>;
  authenticator: Authenticator;
  config: Config;
  log: Logger;
  version: string;
  /** The address of the documentation. */
  homepage: string;
  /** Returns the address of the client; '' if it is not known. */
  addressOf(request: Request): string;
  now(): number;
  /** A monotonic clock, in milliseconds. */
  clock(): number;
  newMemoryId(): string;
  /** Returns why requests are currently rejected, or null. */
  unavailableReason(): string | null;
};

export type RouteServices = Services & { bodies: BodyReader; sender: Sender };
