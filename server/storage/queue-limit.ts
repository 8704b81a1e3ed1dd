import { limits } from '../../sdk/contract/limits.ts';
import { queueFull } from './refusals.ts';

/** The minimum time between two counts. A slow count is followed by a longer pause. */
const countEveryMs = 500;
const costShare = 0.05;

/**
 * Limits the pending records of each project. Their number is at most the last count plus what was
 * accepted since then, so they are counted again only if that sum exceeds the limit.
 */
export class QueueLimit {
  readonly #pending = new Map<number, { records: number; countAgainAt: number }>();

  /** Throws `rate_limited` if the project would have too many pending records. */
  async reserve(projectId: number, added: number, count: () => Promise<number>): Promise<void> {
    let known = this.#pending.get(projectId) ?? (await this.#count(projectId, count));
    const isOver = () => known.records + added > limits.pendingRecords;
    if (isOver() && performance.now() >= known.countAgainAt) {
      known = await this.#count(projectId, count);
    }
    if (isOver()) throw queueFull();
    known.records += added;
  }

  async #count(projectId: number, count: () => Promise<number>) {
    const begun = performance.now();
    const records = await count();
    const ended = performance.now();
    const countAgainAt = ended + Math.max(countEveryMs, (ended - begun) / costShare);
    const known = { records, countAgainAt };
    this.#pending.set(projectId, known);
    return known;
  }
}
