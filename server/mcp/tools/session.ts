import type { MemoryClient, MemoryServiceError } from '../../../sdk/index.ts';

/** A part of a text, in code points. */
export type ContentRange = { offset: number; length: number };

export const noContent: ContentRange = { offset: 0, length: 0 };

/** A connection's client and user. Every tool works on this user's memories. */
export type Session = {
  client: MemoryClient;
  /**
   * Returns a client for reads that need only a part of each memory's content. Its responses may
   * contain the whole content. If `get` returns a part, it adds the `contentLength` of the whole.
   */
  clientFor(range: ContentRange): MemoryClient;
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
