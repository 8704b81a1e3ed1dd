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
  readonly #trusted: number;

  /**
   * `trusted` is the number of records up to which an old count is enough. Where several servers
   * accept records, it is lower than the limit.
   */
  constructor(trusted: number = limits.pendingRecords) {
    this.#trusted = trusted;
  }

  /**
   * Adds records to the project's. Throws `rate_limited` if there is no room for them, or for
   * `needed` records.
   */
  async reserve(
    projectId: number,
    added: number,
    count: () => Promise<number>,
    needed = added,
  ): Promise<void> {
    let known = this.#pending.get(projectId) ?? (await this.#count(projectId, count));
    const isOver = (limit: number) => known.records + needed > limit;
    // mutate-ignore operand: counts more often
    if (isOver(this.#trusted) && performance.now() >= known.countAgainAt) {
      known = await this.#count(projectId, count);
    }
    if (isOver(limits.pendingRecords)) throw queueFull();
    known.records += added;
  }

  async #count(projectId: number, count: () => Promise<number>) {
    const begun = performance.now();
    const before = this.#pending.get(projectId);
    const records = await count();
    const ended = performance.now();
    // A write that runs at the same time has counted too, and may already have added its records.
    const counted = this.#pending.get(projectId);
    if (counted !== undefined && counted !== before) return counted;
    const countAgainAt = ended + Math.max(countEveryMs, (ended - begun) / costShare);
    const known = { records, countAgainAt };
    this.#pending.set(projectId, known);
    return known;
  }
}
