type Options = { source: string; userId: string | undefined; nowMs: number; losses: Losses };
type Item = Record<string, unknown>;

/** Fields that become metadata keys, because filters can use metadata. */
const labels = (
  'categories agent_id app_id run_id actor_id role name session_id thread_id ' +
  'tags title customId containerTags'
).split(' ');
const fields = ['memory', 'user_id', 'id', 'metadata'].concat(
  ['created_at', 'updated_at', 'occurred_at', 'expiration_date'],
  labels,
);

/**
 * Converts a memory that has the field names of mem0. The id is derived from the memory's original
 * identity, so a second import skips the memory. Returns undefined for an expired memory. The
 * service validates all other values.
 */
export function toMemory(item: Item, { source, userId, nowMs, losses }: Options) {
  const given = Object.fromEntries(Object.entries(item).filter(([, one]) => holdsSomething(one)));
  const expiresAt = timeOf(given.expiration_date);
  if (expiresAt !== null && Date.parse(expiresAt) <= nowMs) {
    addLoss(losses, 'expired memories');
    return undefined;
  }
  for (const name of Object.keys(given)) if (!fields.includes(name)) addLoss(losses, name);
  const { memory: content, user_id, id: externalId = null } = given;
  const user = userId ?? user_id;
  if (user === undefined) addLoss(losses, 'memories without a user (pass --user <id>)');
  const identity = JSON.stringify([source, user, externalId ?? content]);
  const hash = new Bun.CryptoHasher('sha256').update(`${identity}\n0`).digest('hex');
  const createdAt = timeOf(given.created_at) ?? new Date(nowMs).toISOString();
  return {
    id: `mem_${hash.slice(0, 32)}`,
    userId: user,
    content,
    metadata: metadataOf(given),
    type: 'memory',
    source,
    externalId,
    status: 'complete',
    occurredAt: timeOf(given.occurred_at),
    expiresAt,
    createdAt,
    updatedAt: timeOf(given.updated_at) ?? createdAt,
  };
}

function metadataOf({ metadata = {}, ...given }: Item): unknown {
  if (typeof metadata !== 'object' || Array.isArray(metadata)) return metadata;
  const found = labels.filter((name) => name in given);
  return { ...Object.fromEntries(found.map((name) => [name, given[name]])), ...metadata };
}

/** Reads a time without a zone as UTC. */
function timeOf(value: unknown): string | null {
  if (value === undefined) return null;
  const hasZone = /(?:z|[+-]\d\d:?\d\d)$/i.test(`${value}`) || !/T|\d \d/.test(`${value}`);
  const ms = Date.parse(`${value}${hasZone ? '' : 'Z'}`);
  // Keep an invalid time unchanged, so that the service reports the error.
  return Number.isNaN(ms) ? `${value}` : new Date(ms).toISOString();
}

function holdsSomething(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

/** How much of what cannot be imported, such as 2 `hash`. */
export type Losses = Map<string, number>;

export function addLoss(losses: Losses, what: string, count = 1): void {
  if (count > 0) losses.set(what, (losses.get(what) ?? 0) + count);
}
