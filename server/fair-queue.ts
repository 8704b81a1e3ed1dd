type Owner<Item> = {
  waiting: { item: Item; cost: number }[];
  /** What it was served, in virtual time: it is next once the others were served more. */
  served: number;
};

/**
 * Items of several owners, served fairly by their cost, so that no owner's first item waits behind
 * all of another's. Of one owner they come in order. An owner that comes back after a while starts
 * where the others are: time without items is not saved up.
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

  /** The next item that `admits` lets through; undefined where there is none. */
  take(admits: (owner: number, item: Item) => boolean = () => true): Item | undefined {
    let next: Owner<Item> | undefined;
    for (const [id, owner] of this.#owners) {
      const [first] = owner.waiting;
      // Served before, and nothing of it is owed any more.
      if (first === undefined && owner.served <= this.#now) this.#owners.delete(id);
      if (first === undefined || owner.served >= (next?.served ?? Number.POSITIVE_INFINITY))
        continue;
      if (admits(id, first.item)) next = owner;
    }
    const taken = next?.waiting.shift();
    if (next === undefined || taken === undefined) return undefined;
    this.#now = next.served;
    next.served += taken.cost;
    return taken.item;
  }

  /** How many items of the owner wait. */
  countOf(owner: number): number {
    return this.#owners.get(owner)?.waiting.length ?? 0;
  }

  /** Takes everything out. */
  clear(): Item[] {
    const items = [...this.#owners.values()].flatMap(({ waiting }) => waiting);
    this.#owners.clear();
    return items.map(({ item }) => item);
  }
}
