import type { MemoryClient, MemoryServiceError } from '../../../sdk/index.ts';

/** A connection's client and user. Every tool works on this user's memories. */
export type Session = {
  client: MemoryClient;
  userId: string;
  readOnly: boolean;
  version: string;
  /** Logs an error that is not an SDK error. */
  onError(error: unknown): void;
  /**
   * Returns the address that did not respond, with advice. Undefined if the model must not see it.
   */
  onUnreachable?(error: MemoryServiceError): Promise<string>;
};
