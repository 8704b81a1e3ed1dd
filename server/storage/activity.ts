const recentMs = 1_000;

/** Records which projects have sent requests within the last second. */
export class Activity {
  /** In order of time, the earliest first. */
  readonly #lastAt = new Map<number, number>();

  note(projectId: number): void {
    this.#lastAt.delete(projectId);
    this.#lastAt.set(projectId, performance.now());
  }

  /** Whether any other project has sent a request within the last second. */
  hasOthers(projectId: number): boolean {
    const since = performance.now() - recentMs;
    for (const [id, at] of this.#lastAt) {
      if (at >= since) break; // mutate-ignore boundary: no time is equal to the other
      this.#lastAt.delete(id);
    }
    return this.#lastAt.size > (this.#lastAt.has(projectId) ? 1 : 0);
  }
}
