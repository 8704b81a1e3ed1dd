import type { MemoryClient, MemoryServiceError } from '../../../sdk/index.ts';

/** The client and the user of a connection. Every tool works on this user's memories. */
export type Session = {
  client: MemoryClient;
  userId: string;
  /** Whether the session has only the tools that read. */
  readOnly: boolean;
  /** The version of the program that serves the session. */
  version: string;
  /** Logs an unexpected error, i.e. one that is not an error of the SDK. */
  onError(error: unknown): void;
  /**
   * Returns the address that did not respond, with advice. Absent if the model must not see the
   * address.
   */
  onUnreachable?(error: MemoryServiceError): Promise<string>;
};
