import {
  BaseStore,
  type GetOperation,
  type Item,
  type ListNamespacesOperation,
  type MatchCondition,
  type Operation,
  type OperationResults,
  type PutOperation,
  type SearchItem,
  type SearchOperation,
  validateNamespace,
} from '@langchain/langgraph-checkpoint';
import { type Memory, type MemoryClient, NotFoundError } from 'memory-service-sdk';

type Filter = NonNullable<SearchOperation['filter']>;

/** Metadata: all prefixes of the namespace, and whether queries find the item. */
const [prefixesKey, indexKey] = ['$namespace', '$index'];
const controls: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
/** The largest number of results of a search, and of items of a page. */
const most = 100;

/**
 * A LangGraph store in a memory service. An item is a memory: its value is the content, as JSON;
 * its key is the external id; its namespace is the source. The first `userLabels` labels of a
 * namespace (by default 1) are the id of the user: with `['ada', 'facts']`, `ada`.
 */
export class MemoryServiceStore extends BaseStore {
  readonly #client: MemoryClient;
  readonly #userLabels: number;

  constructor(client: MemoryClient, { userLabels = 1 }: { userLabels?: number } = {}) {
    super();
    this.#client = client;
    this.#userLabels = userLabels;
  }

  /** Reads first, and then writes the last value of each item, as `InMemoryStore` does. */
  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const results: unknown[] = [];
    const puts = new Map<string, PutOperation>();
    for (const operation of operations) {
      if ('value' in operation) puts.set(JSON.stringify(nameOf(operation)), operation);
      results.push('value' in operation ? null : await this.#read(operation));
    }
    for (const operation of puts.values()) await this.#put(operation);
    return results as OperationResults<Op>;
  }

  #read(operation: Exclude<Operation, PutOperation>): Promise<unknown> {
    if ('namespacePrefix' in operation) return this.#search(operation);
    return 'key' in operation ? this.#get(operation) : this.#namespaces(operation);
  }

  async #get(operation: GetOperation): Promise<Item | null> {
    const found = await this.#find(operation);
    return found === undefined ? null : itemOf(found);
  }

  async #put(operation: PutOperation): Promise<void> {
    const { namespace, key, value, index } = operation;
    checkName(namespace, key);
    if (Array.isArray(index)) {
      throw new Error('index: either the whole value is searchable or nothing');
    }
    if (value === null) {
      const found = await this.#find(operation);
      if (found === undefined) return;
      await this.#client.delete(found.id).catch((error: unknown) => {
        // Another client may have deleted it by now.
        if (!(error instanceof NotFoundError)) throw error;
      });
      return;
    }
    const prefixes = namespace.map((_, last) => namespace.slice(0, last + 1).join('.'));
    const own = { [prefixesKey]: prefixes, [indexKey]: index !== false };
    await this.#client.save({
      ...this.#ownerOf(namespace),
      ...{ source: namespace.join('.'), externalId: key },
      content: toJson(value),
      metadata: { ...filterable(value), ...own },
    });
  }

  async #search(operation: SearchOperation): Promise<SearchItem[]> {
    const { namespacePrefix, filter = {}, limit = 10, offset = 0, query } = operation;
    const found = query ? this.#ranked(operation, query) : this.#listed(namespacePrefix, filter);
    const items: SearchItem[] = [];
    for await (const memory of found) {
      if (items.length >= offset + limit) break;
      const item = itemOf(memory);
      if (hasFields(item.value, filter)) items.push(item);
    }
    return items.slice(offset);
  }

  async *#ranked(operation: SearchOperation, query: string): AsyncGenerator<Memory> {
    const { namespacePrefix, filter = {}, limit = 10, offset = 0 } = operation;
    if (namespacePrefix.length < this.#userLabels || offset + limit > most) {
      throw new Error(
        `a search with a query needs the first ${this.#userLabels} labels of the namespace, ` +
          `and finds at most ${most} items`,
      );
    }
    // The service accepts neither U+0000 nor the halves of a cut emoji.
    const text = query.toWellFormed().replaceAll('\0', ' ');
    const { items } = await this.#client.search({
      ...this.#ownerOf(namespacePrefix),
      query: [...text].slice(-1_000).join(''),
      metadata: { ...where(namespacePrefix, filter), [indexKey]: true },
      limit: most,
    });
    yield* items;
  }

  /** Without the labels of a user, reads the memories of every user that may match. */
  async *#listed(prefix: string[], filter: Filter): AsyncGenerator<Memory> {
    for await (const userId of this.#usersOf(prefix)) {
      const query = { userId, metadata: where(prefix, filter), limit: most };
      for await (const memory of this.#client.list(query)) {
        if (prefixesKey in memory.metadata) yield memory;
      }
    }
  }

  async *#usersOf(prefix: string[]): AsyncGenerator<string> {
    if (prefix.length >= this.#userLabels) return yield this.#ownerOf(prefix).userId;
    for await (const { userId } of this.#client.users({ limit: most })) {
      if (`${userId}.`.startsWith(prefix.map((label) => `${label}.`).join(''))) yield userId;
    }
  }

  async #namespaces(operation: ListNamespacesOperation): Promise<string[][]> {
    const { matchConditions = [], maxDepth, limit, offset } = operation;
    const prefix = matchConditions.find(({ matchType }) => matchType === 'prefix')?.path ?? [];
    const known = prefix.slice(0, [...prefix, '*'].indexOf('*'));
    const found = new Map<string, string[]>();
    for await (const memory of this.#listed(known, {})) {
      const { namespace } = itemOf(memory);
      if (!matchConditions.every((condition) => matches(namespace, condition))) continue;
      const labels = namespace.slice(0, maxDepth);
      found.set(labels.join(':'), labels);
    }
    const sorted = [...found].sort(([a], [b]) => a.localeCompare(b));
    return sorted.map(([, labels]) => labels).slice(offset, offset + limit);
  }

  async #find({ namespace, key }: GetOperation): Promise<Memory | undefined> {
    checkName(namespace, key);
    const name = { source: namespace.join('.'), externalId: key };
    return (await this.#client.list({ ...this.#ownerOf(namespace), ...name })).items[0];
  }

  #ownerOf(namespace: string[]): { userId: string } {
    return { userId: namespace.slice(0, this.#userLabels).join('.') };
  }
}

/** The client omits an undefined filter, so that any item of the namespace would be found. */
function checkName(namespace: string[], key: unknown): void {
  validateNamespace(namespace, { allowReservedRoot: true });
  if (typeof key !== 'string') throw new Error('key: must be a string');
}

function nameOf({ namespace, key }: GetOperation): unknown {
  return [namespace, key];
}

function itemOf(memory: Memory & { score?: number }): SearchItem {
  return {
    value: readValue(memory),
    key: memory.externalId ?? '',
    namespace: (memory.source ?? '').split('.'),
    createdAt: new Date(memory.createdAt),
    updatedAt: new Date(memory.updatedAt),
    ...(memory.score === undefined ? {} : { score: memory.score }),
  };
}

/**
 * Returns JSON with line breaks and tabs instead of escapes, because searches take the `n` of `\n`
 * for the first letter of the next word.
 */
function toJson(value: Record<string, unknown>): string {
  return JSON.stringify(value).replace(/\\(.)/g, (all, letter) => controls[letter] ?? all);
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    const escaped = (text: string) =>
      text.replace(/\p{Cc}/gu, (control) => JSON.stringify(control).slice(1, -1));
    return JSON.parse(json.replace(/"(?:[^"\\]|\\.)*"/gs, escaped));
  }
}

/** Another client may have replaced the JSON with plain text. */
function readValue({ content }: Memory): Record<string, unknown> {
  try {
    const value = parseJson(content);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {}
  return { text: content };
}

/** The fields by which the service can filter. The store filters by the others itself. */
function filterable(fields: Filter): Record<string, string> {
  const isSimple = ([name, value]: [string, unknown]) =>
    /^(?!(?:constructor|prototype)$)[A-Za-z][\w-]*$/.test(name) &&
    /^[^\0\ud800-\udfff]{1,256}$/su.test(typeof value === 'string' ? value : '');
  return Object.fromEntries(Object.entries(fields).filter(isSimple));
}

function where(prefix: string[], filter: Filter): Record<string, string> {
  const fields = filterable(filter);
  return prefix.length === 0 ? fields : { ...fields, [prefixesKey]: prefix.join('.') };
}

function matches(namespace: string[], { matchType, path }: MatchCondition): boolean {
  const start = matchType === 'prefix' ? 0 : namespace.length - path.length;
  const isLong = namespace.length >= path.length;
  return isLong && path.every((label, at) => label === '*' || label === namespace[start + at]);
}

function hasFields(value: Record<string, unknown>, filter: Filter): boolean {
  return Object.entries(filter).every(([name, wanted]) => satisfies(value[name], wanted));
}

/** Operators compare as those of `InMemoryStore`; only equal values other than objects match. */
function satisfies(value: unknown, wanted: unknown): boolean {
  const fields = typeof wanted === 'object' && wanted !== null ? Object.entries(wanted) : [];
  const operators = fields.filter(([name]) => name.startsWith('$'));
  if (operators.length === 0) return value === wanted;
  return operators.every(([name, operand]) => comparisons.get(name)?.(value, operand) ?? false);
}

const comparisons = new Map<string, (value: unknown, operand: unknown) => boolean>([
  ['$eq', (value, operand) => value === operand],
  ['$ne', (value, operand) => value !== operand],
  ['$gt', (value, operand) => Number(value) > Number(operand)],
  ['$gte', (value, operand) => Number(value) >= Number(operand)],
  ['$lt', (value, operand) => Number(value) < Number(operand)],
  ['$lte', (value, operand) => Number(value) <= Number(operand)],
  ['$in', (value, operand) => Array.isArray(operand) && operand.includes(value)],
  ['$nin', (value, operand) => !(Array.isArray(operand) && operand.includes(value))],
]);
