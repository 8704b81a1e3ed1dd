import type { CheckpointOutcome } from './writer/checkpoints.ts';

export type WriterStart = { path: string };

/** A write with more rows than this counts as large and is committed alone. */
export const maxSmallRows = 128; // mutate-ignore constant: affects only speed

export type WriterNotice =
  /** The reason why writes fail, or null once writes succeed again. */
  | { fault: string | null }
  /** Requests a checkpoint, because the WAL has enough pages. A long WAL must also be finished. */
  | { checkpoint: { isLong: boolean } }
  /** A sync failed, so the file may lack pages from the WAL. */
  | { syncFailed: true };

export type WriterOrder = {
  /** A port through which another thread sends calls. */
  port?: MessagePort;
  checkpointed?: CheckpointOutcome;
};

/** `port` leads to the writer thread. */
export type ReaderStart = { path: string; maxIndexBytes: number; port: MessagePort };
