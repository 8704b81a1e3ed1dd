/*
 * Whether a lone write may let COMMIT wait for the disk. That spares a single client the way to a
 * thread and back, but everybody waits with it, and nobody reads meanwhile: on a slow disk it is
 * done only where nobody did of late.
 */

export type DiskWatch = {
  /** Says that somebody reads, who is not to wait for the disk. */
  noteReader(): void;
  /** Says that a commit is on the disk, and when it began: a time of `performance.now()`. */
  noteCommit(begun: number): void;
  /** Whether to wait for a commit now will hold up nobody to speak of. */
  isQuick(): boolean;
};

/** Who has read is expected to read again for so long, and not to wait for a slow disk. */
const readerMs = 10_000;
/** A disk that takes a commit in less holds up nobody to speak of. */
const quickMs = 1;
/** One that once took longer is busy with something, a backup say: */
const slowMs = 20;
/** or it stands still, and where nobody reads somebody may still ask for the service's health: */
const stalledMs = 100;
/** for so long others are served while it is waited for. */
const busyMs = 5_000;

export function createDiskWatch(): DiskWatch {
  let tookMs = 0;
  let busyUntil = 0;
  let stalledUntil = 0;
  let readerUntil = 0;
  return {
    noteReader() {
      readerUntil = performance.now() + readerMs;
    },
    noteCommit(begun) {
      tookMs = performance.now() - begun;
      if (tookMs > slowMs) busyUntil = begun + busyMs;
      if (tookMs > stalledMs) stalledUntil = begun + busyMs;
    },
    isQuick() {
      const now = performance.now();
      if (now >= readerUntil) return now >= stalledUntil;
      return tookMs < quickMs && now >= busyUntil;
    },
  };
}
