type Owner<Item> = {
  waiting: { item: Item; cost: number }[];
  /**
   * The total cost of this owner's dequeued items, raised to `#now` after idle time. The
   * owner with the lowest value is next.
   */
  served: number;
};

/**
 * A fair queue. Owners with waiting items get equal shares, measured by the cost of their items.
 * Each owner's items stay in order. An owner gets no credit for idle time.
 */
export class FairQueue<Item> {
  readonly #owners = new Map<number, Owner<Item>>();
  #now = 0;

  push(owner: number, item: Item, cost = 1): void {
    const known = this.#owners.get(owner) ?? { waiting: [], served: this.#now };
    if (known.waiting.length === 0) known.served = Math.max(known.served, this.#now);
    known.waiting.push({ item, cost });
    this.#owners.set(owner, known);
  }

  /** Removes and returns the next item that `admits` accepts, or undefined if there is none. */
  dequeue(admits: (owner: number, item: Item) => boolean = () => true): Item | undefined {
    let next: Owner<Item> | undefined;
    for (const [id, owner] of this.#owners) {
      const [first] = owner.waiting;
      // Drop an idle owner that has used no more than its share. A new entry would be identical.
      if (first === undefined && owner.served <= this.#now) this.#owners.delete(id);
      if (first === undefined || owner.served >= (next?.served ?? Number.POSITIVE_INFINITY))
        continue;
      if (admits(id, first.item)) next = owner;
    }
    const entry = next?.waiting.shift();
    if (next === undefined || entry === undefined) return undefined;
    this.#now = next.served;
    next.served += entry.cost;
    return entry.item;
  }

  countOf(owner: number): number {
    return this.#owners.get(owner)?.waiting.length ?? 0;
  }

  clear(): Item[] {
    const items = [...this.#owners.values()].flatMap(({ waiting }) => waiting);
    this.#owners.clear();
    return items.map(({ item }) => item);
  }
}
