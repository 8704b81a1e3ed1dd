import type { Port } from '../../threads/channel.ts';
import type { CheckpointOutcome } from './writer/checkpoints.ts';

/* Messages between the HTTP thread and the writer thread other than calls and replies. */

export type WriterStart = { path: string };

/** A write of more rows is large: it is committed on its own. */
export const maxSmallRows = 128;

/** Messages from the writer. */
export type WriterNotice =
  /** The reason why writes fail, or null once writes succeed again. */
  | { fault: string | null }
  /** Requests a checkpoint, because the log has enough pages. */
  | { checkpoint: true }
  /** A sync failed, so the file may lack pages of the log. */
  | { syncFailed: true }
  | { warning: string; error: string };

/** Messages to the writer. */
export type WriterOrder = {
  /** A port through which another thread sends calls. */
  port?: Port;
  checkpointed?: CheckpointOutcome;
};

/** The start data of a reader thread. `maxIndexBytes` limits the size of its search indexes. */
export type ReaderStart = { path: string; maxIndexBytes: number };
