import type { MemoryClient } from '../../../sdk/index.ts';

/** Whom a connection is for. Every tool works on the memories of this one user. */
export type Session = {
  client: MemoryClient;
  userId: string;
  /** The key may not write, or is not meant to: the reading tools are all there is. */
  readOnly: boolean;
  /** The version of the service or of the command line. */
  version: string;
  /** Takes an error that is none of the service, to be logged. */
  onError(error: unknown): void;
};
