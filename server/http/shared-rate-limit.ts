import type { Storage } from '../storage/storage.ts';

/** `left` is negative once the quota is exceeded. */
export type Count = { left: number; resetSeconds: number };

/**
 * Limits each project's request rate across several servers. A server takes quota from the
 * storage in batches, each before the previous one is used up, and counts requests in memory:
 *
 *   spent -> take -> some left -> less than a batch left -> take in the background
 *                \-> nothing granted: reject until the window ends
 *
 * All servers together allow at most the quota in a window. While the storage is unavailable, each
 * server counts separately. Quota that a server takes but does not use is lost.
 */
export type SharedRateLimit = { count(projectId: number): Promise<Count> };

type Take = NonNullable<Storage['takeQuota']>;

/** This server's share of a project's window. `spendUntil` and `resetsAt` are monotonic times. */
type Share = {
  /** Identifies the window in the storage; null if this server counts separately. */
  endsAt: number | null;
  /**
   * The window ends between these two times, which are computed from the times at which a take was
   * sent and returned.
   */
  spendUntil: number;
  resetsAt: number;
  left: number;
  taken: number;
  untaken: number;
  isExhausted: boolean;
  /** The number of requests waiting for a take. */
  waiting: number;
  taking: Promise<void> | null;
};

/** The number of batches in a quota. A server holds about two batches, or 1.6% of the quota. */
const batches = 128;
/** The maximum number of takes per request. A window may end before a take returns. */
const maxTakes = 5; // mutate-ignore constant: five windows never end in a row
const maxShares = 10_000;

export function createSharedRateLimit(
  { requests, seconds }: { requests: number; seconds: number },
  clock: () => number,
  take: Take,
): SharedRateLimit {
  const batch = Math.ceil(requests / batches);
  const shares = new Map<number, Share>();

  function shareOf(projectId: number): Share {
    const known = shares.get(projectId);
    if (known !== undefined) return known;
    if (shares.size >= maxShares) shares.delete(shares.keys().next().value ?? projectId);
    const share = newShare();
    shares.set(projectId, share);
    return share;
  }

  /** Takes more quota. All waiting requests of a project share one take. */
  function refill(projectId: number, share: Share): Promise<void> {
    share.taking ??= takeMore(projectId, share).finally(() => {
      share.taking = null;
    });
    return share.taking;
  }

  async function takeMore(projectId: number, share: Share): Promise<void> {
    const amount = batch + share.waiting;
    const sentAt = clock();
    try {
      const taken = await take({ projectId, amount, limit: requests, seconds });
      if (taken.endsAt !== share.endsAt) empty(share);
      share.endsAt = taken.endsAt;
      share.spendUntil = sentAt + taken.endsInMs;
      share.resetsAt = clock() + taken.endsInMs;
      share.untaken = taken.untaken;
      add(share, taken.granted, amount);
    } catch {
      if (clock() >= share.spendUntil) beginAlone(share);
      add(share, Math.min(amount, requests - share.taken), amount);
      share.untaken = requests - share.taken;
    }
  }

  function beginAlone(share: Share): void {
    empty(share);
    share.endsAt = null;
    share.spendUntil = share.resetsAt = clock() + seconds * 1_000;
  }

  function counted({ resetsAt }: Share, left: number): Count {
    const resetSeconds = Math.ceil((resetsAt - clock()) / 1_000);
    return { left, resetSeconds: Math.min(seconds, Math.max(1, resetSeconds)) };
  }

  function spend(projectId: number, share: Share): Count {
    share.left -= 1;
    if (share.left < batch && !share.isExhausted) void refill(projectId, share);
    return counted(share, share.left + share.untaken);
  }

  return {
    async count(projectId) {
      const share = shareOf(projectId);
      for (let takes = 0; ; takes += 1) {
        if (clock() >= share.spendUntil) empty(share);
        if (share.left > 0) return spend(projectId, share);
        if (share.isExhausted || takes === maxTakes) return counted(share, -1);
        share.waiting += 1;
        await refill(projectId, share);
        share.waiting -= 1;
      }
    },
  };
}

function newShare(): Share {
  const times = { endsAt: null, spendUntil: 0, resetsAt: 0 };
  // mutate-ignore boolean: the first request empties the share
  const counts = { left: 0, taken: 0, untaken: 0, isExhausted: false, waiting: 0 };
  return { ...times, ...counts, taking: null };
}

function empty(share: Share): void {
  Object.assign(share, { left: 0, taken: 0, untaken: 0, isExhausted: false });
}

/** Adds granted quota. If less than `amount` was granted, the window is exhausted. */
function add(share: Share, granted: number, amount: number): void {
  share.left += granted;
  share.taken += granted;
  share.isExhausted = granted < amount;
}
