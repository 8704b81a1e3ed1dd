/**
 * Items of several owners, taken from each owner in turn, so that nobody's first item waits behind
 * all of another's. Of one owner they come in order.
 */
export class FairQueue<Item> {
  readonly #waiting = new Map<number, Item[]>();

  push(owner: number, item: Item): void {
    const own = this.#waiting.get(owner);
    if (own === undefined) this.#waiting.set(owner, [item]);
    else own.push(item);
  }

  /** The next item of the first owner that `admits` lets through; undefined where there is none. */
  take(admits: (owner: number, item: Item) => boolean = () => true): Item | undefined {
    for (const [owner, own] of this.#waiting) {
      const item = own[0];
      if (item === undefined || !admits(owner, item)) continue;
      own.shift();
      // The owner goes to the end of the line.
      this.#waiting.delete(owner);
      if (own.length > 0) this.#waiting.set(owner, own);
      return item;
    }
    return undefined;
  }

  /** How many items of the owner wait. */
  countOf(owner: number): number {
    return this.#waiting.get(owner)?.length ?? 0;
  }

  /** Takes everything out. */
  clear(): Item[] {
    const items = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    return items;
  }
}
