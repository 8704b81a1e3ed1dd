import type { Port } from '../../threads/channel.ts';
import type { CheckpointOutcome } from './writer/checkpoints.ts';

/* Messages between the HTTP thread and the writer thread other than calls and replies. */

export type WriterStart = { path: string };

/** Messages from the writer. */
export type WriterNotice =
  /** Why writes fail; null once they succeed again. */
  | { fault: string | null }
  /** The log has enough pages for a checkpoint. */
  | { checkpoint: true }
  /** The file may lack what the log has. */
  | { syncFailed: true }
  | { warning: string; error: string };

/** Messages to the writer. */
export type WriterOrder = {
  /** Another thread's end of a channel. */
  port?: Port;
  checkpointed?: CheckpointOutcome;
};

/** The start data of a reader thread. `maxIndexBytes` bounds its search indexes. */
export type ReaderStart = { path: string; maxIndexBytes: number };
