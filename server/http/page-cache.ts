/** Pages as they were answered, for as long as nothing stored has changed. */
export type PageCache = {
  /** The page of that name, or what `make` makes of it. The name says all the page hangs on. */
  read(name: string, make: () => Promise<string>): Promise<string>;
};

/** In UTF-16 units, names included: a few thousand pages of the usual size. */
const maxLength = 16 * 1024 * 1024;

/**
 * `version` must differ as soon as a write has been answered, whichever it was. Asking it is the
 * whole of the invalidation: there is no list of what a write touches that could miss something.
 */
export function createPageCache(version: () => Promise<number>): PageCache {
  const pages = new Map<string, string>();
  let length = 0;
  let pagesVersion: number | null = null;

  function clear(): void {
    pages.clear();
    length = 0;
  }

  function keep(name: string, page: string): void {
    const added = name.length + page.length;
    if (added > maxLength) return;
    if (length + added > maxLength) clear();
    pages.set(name, page);
    length += added;
  }

  return {
    async read(name, make) {
      const current = await version();
      if (current !== pagesVersion) clear();
      pagesVersion = current;
      const known = pages.get(name);
      if (known !== undefined) return known;
      const page = await make();
      // While it was made somebody may have begun on a later version.
      if (current === pagesVersion && !pages.has(name)) keep(name, page);
      return page;
    },
  };
}
