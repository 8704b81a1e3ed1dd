import type { Port } from '../../threads/channel.ts';
import type { CheckpointOutcome } from './writer/checkpoints.ts';

/* Messages between the HTTP thread and the writer thread other than calls and replies. */

export type WriterStart = { path: string };

/** From the writer. */
export type WriterNotice =
  /** Writes fail, and why; null once they succeed again. */
  | { fault: string | null }
  /** The log is worth a checkpoint. */
  | { checkpoint: true }
  | { warning: string; error: string };

/** To the writer. */
export type WriterOrder = {
  /** Another thread's end of a channel. */
  port?: Port;
  checkpointed?: CheckpointOutcome;
};

/** A reader thread. `maxIndexBytes` bounds the search indexes that it holds. */
export type ReaderStart = { path: string; maxIndexBytes: number };
