import type { MemoryClient, MemoryServiceError } from '../../../sdk/index.ts';

/** A connection's client and user. Every tool works on this user's memories. */
export type Session = {
  client: MemoryClient;
  userId: string;
  readOnly: boolean;
  version: string;
  /** Logs an error that is not an SDK error. */
  onError(error: unknown): void;
  /** Returns the address that did not respond, with advice, if the model may see the address. */
  onUnreachable?(error: MemoryServiceError): Promise<string>;
};
