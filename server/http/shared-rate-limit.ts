import type { Storage } from '../storage/storage.ts';

/** `left` is negative once the quota is exceeded. */
export type Count = { left: number; resetSeconds: number };

type Reserve = NonNullable<Storage['reserveQuota']>;

/** This server's share of a project's window. `spendUntil` and `resetsAt` are monotonic times. */
type Share = {
  /** Identifies the window in the storage; null if this server counts separately. */
  endsAt: number | null;
  /**
   * The window ends between these two times, which are computed from the times at which a
   * reservation was sent and returned.
   */
  spendUntil: number;
  resetsAt: number;
  left: number;
  granted: number;
  available: number;
  isExhausted: boolean;
  /** The number of requests waiting for a reservation. */
  waiting: number;
  reservation: Promise<void> | null;
};

/** The number of batches in a quota. A server holds about two batches, or 1.6% of the quota. */
const batches = 128;
/** The maximum number of reservations per request. A window may end before one returns. */
const maxReservations = 5; // mutate-ignore constant: five windows never end in a row
const maxShares = 10_000;

/**
 * Limits each project's request rate across several servers. A server reserves quota from the
 * storage in batches, each before the previous one is used up, and counts requests in memory:
 *
 *   spent -> reserve -> some left -> less than a batch left -> reserve in the background
 *                   \-> nothing granted: reject until the window ends
 *
 * All servers together allow at most the quota in a window. While the storage is unavailable, each
 * server counts separately. Quota that a server reserves but does not use is lost.
 */
export function createSharedRateLimit(
  { requests, seconds }: { requests: number; seconds: number },
  clock: () => number,
  reserve: Reserve,
) {
  const batch = Math.ceil(requests / batches);
  const shares = new Map<number, Share>();

  function shareOf(projectId: number): Share {
    const known = shares.get(projectId);
    if (known !== undefined) return known;
    // mutate-ignore boundary: one more share
    if (shares.size >= maxShares) shares.delete(shares.keys().next().value ?? projectId);
    const share = newShare();
    shares.set(projectId, share);
    return share;
  }

  /** Reserves more quota. All waiting requests of a project share one reservation. */
  function refill(projectId: number, share: Share): Promise<void> {
    share.reservation ??= reserveMore(projectId, share).finally(() => {
      share.reservation = null;
    });
    return share.reservation;
  }

  async function reserveMore(projectId: number, share: Share): Promise<void> {
    const amount = batch + share.waiting;
    const sentAt = clock();
    try {
      const grant = await reserve({ projectId, amount, limit: requests, seconds });
      if (grant.endsAt !== share.endsAt) empty(share);
      share.endsAt = grant.endsAt;
      share.spendUntil = sentAt + grant.endsInMs;
      share.resetsAt = clock() + grant.endsInMs;
      share.available = grant.available;
      add(share, grant.granted, amount);
    } catch {
      if (clock() >= share.spendUntil) beginAlone(share);
      add(share, Math.min(amount, requests - share.granted), amount);
      share.available = requests - share.granted;
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
    return counted(share, share.left + share.available);
  }

  return async (projectId: number): Promise<Count> => {
    const share = shareOf(projectId);
    for (let reservations = 0; ; reservations += 1) {
      if (clock() >= share.spendUntil) empty(share);
      if (share.left > 0) return spend(projectId, share);
      // mutate-ignore operand: five windows never end in a row
      if (share.isExhausted || reservations === maxReservations) return counted(share, -1);
      share.waiting += 1;
      await refill(projectId, share);
      share.waiting -= 1;
    }
  };
}

function newShare(): Share {
  const times = { endsAt: null, spendUntil: 0, resetsAt: 0 };
  // mutate-ignore boolean: the first request empties the share
  const counts = { left: 0, granted: 0, available: 0, isExhausted: false, waiting: 0 };
  return { ...times, ...counts, reservation: null };
}

function empty(share: Share): void {
  Object.assign(share, { left: 0, granted: 0, available: 0, isExhausted: false });
}

/** Adds granted quota. If less than `amount` was granted, the window is exhausted. */
function add(share: Share, granted: number, amount: number): void {
  share.left += granted;
  share.granted += granted;
  share.isExhausted = granted < amount;
}
