import fc from 'fast-check';
import type { MemoryType } from '../../../sdk/contract/memory.ts';
import {
  externalIds,
  idOf,
  metadata,
  nth,
  onMemory,
  sources,
  status,
  users,
  words,
  write,
} from './command.ts';
import { clock, type Fields, type Item, iso, type Model } from './model.ts';

/* The commands that write. */

const types = ['document', 'event', 'ticket'] as const;
const ends = ['', '', ' \u{1d4b3}', ` İ ß e\u0301 \ufeff\u202e\u2028 $1 ?1 %_\\ '";--`];
const text = fc
  .tuple(fc.subarray(words, { minLength: 1, maxLength: 2 }), fc.constantFrom(...ends))
  .map(([some, end]) => some.join(' ') + end);
const times = ['2025-01-01T00', '0000-01-01T00', '9999-12-31T23'].map(
  (hour) => `${hour}:00:00.000Z`,
);
/** `seconds` is the time until the memory expires, because the clock moves. */
const changes = {
  content: text,
  metadata,
  occurredAt: fc.constantFrom(null, ...times),
  seconds: fc.constantFrom(null, null, 1, 60),
};
const fields = fc.record({
  ...changes,
  userId: fc.constantFrom('ada', ...users),
  source: fc.constantFrom(...sources, null),
  externalId: fc.constantFrom(...externalIds, null),
  /** An even number selects a memory that the write repeats, most often with one other field. */
  nth,
  changed: fc.constantFrom(null, 'content', 'metadata', 'occurredAt', 'expiresAt'),
});
type Given = typeof fields extends fc.Arbitrary<infer One> ? One : never;

/** The fields of a memory of this type. */
function fieldsOf(
  { memories }: Model,
  { nth, changed, ...given }: Given,
  type: MemoryType,
): Fields {
  const other: Fields = timed(given);
  const named = [...memories.values()].filter((one) => {
    return one.externalId !== null && (nth % 3 === 0 || one.type === type);
  });
  const known = nth % 2 === 0 ? named[(nth / 2) % named.length] : undefined;
  if (known === undefined) return other;
  const { userId, content, source, externalId, occurredAt, expiresAt } = known;
  const { subject: _, ...own } = known.metadata;
  const metadata = type === 'ticket' ? own : known.metadata;
  // In the order of `other`, because the model compares requests as texts.
  const same = { ...other, userId, content, metadata, source, externalId, occurredAt, expiresAt };
  return changed === null ? same : { ...same, [changed]: other[changed] };
}

function timed<T extends { seconds: number | null }>({ seconds, ...rest }: T) {
  return { ...rest, expiresAt: seconds === null ? null : iso(clock.now + 1_000 * seconds) };
}

const save = write('save', fields, (model, args, version) => {
  const given = fieldsOf(model, args, 'memory');
  return {
    request: given,
    send: (door, options) => door.save(given, options),
    apply: ({ memoryId = '' }) => {
      const known = model.sameThing(given);
      if (version !== undefined && version !== known?.version) {
        return { error: 'precondition_failed' };
      }
      const memory = model.write(given, 'memory', memoryId);
      return { value: { ...memory, memoryId: memory.id } };
    },
  };
});

const someChanges = fc.record({
  nth,
  changes: fc.record(changes, { requiredKeys: ['content'] }),
  isSame: fc.boolean(),
});
const update = write('update', someChanges, (model, args, version) => {
  const { seconds, ...rest } = args.changes;
  const id = idOf(model, args.nth);
  const known = args.isSame ? model.memories.get(id) : undefined;
  const other = seconds === undefined ? rest : timed({ ...rest, seconds });
  const given = known === undefined ? other : { content: known.content };
  return {
    request: [id, given],
    send: (door, options) => door.update(id, given, options),
    apply: () => onMemory(model, id, version, (one) => model.change(one, given, 'complete')),
  };
});

const remove = write('delete', nth, (model, n, version) => {
  const id = idOf(model, n);
  return {
    request: id,
    send: (door, options) => door.remove(id, options),
    apply: () => onMemory(model, id, version, () => void model.drop(id)),
  };
});

const erase = write('erase', fc.constantFrom(...users), (model, userId) => ({
  request: userId,
  send: (door, options) => door.erase(userId, options),
  apply: () => {
    const own = model.of(userId);
    for (const { id } of own) model.drop(id);
    return { value: { deleted: own.length } };
  },
}));

const record = fc.record({ fields, type: fc.constantFrom(...types) });

const ingest = write('ingest', record, (model, args) => {
  const item: Item = { ...fieldsOf(model, args.fields, args.type), type: args.type };
  return {
    request: item,
    send: (door, options) => door.ingest(item, options),
    apply: ({ memoryId = '' }) => {
      const { id, status, source, externalId } = model.accept(item, memoryId);
      return { value: { memoryId: id, status, source, externalId } };
    },
  };
});

/** With `isSame`, all records are of the same thing. */
const records = fc.record({
  records: fc.array(record, { minLength: 1, maxLength: 5 }),
  isSame: fc.boolean(),
});
const batch = write('batch', records, (model, { records, isSame }) => {
  const same = isSame ? { userId: 'ada', source: 's', externalId: '1' } : {};
  const items = records.map(({ fields, type }): Item => {
    return { ...fieldsOf(model, fields, type), type, ...same };
  });
  return {
    request: items,
    send: (door, options) => door.batch(items, options),
    apply: (real) => {
      const ids = items.map((item, n) => model.accept(item, real.items?.[n]?.memoryId ?? '').id);
      const answers = ids.map((memoryId, index) => {
        return { index, memoryId, status: model.memories.get(memoryId)?.status };
      });
      return { value: { accepted: items.length, items: answers } };
    },
  };
});

const imported = fc.record({
  copies: fc.array(nth, { maxLength: 2 }),
  made: fc.array(
    fc.record({ id: fc.constantFrom('mem_i1', 'mem_I1', 'mem_-'), fields, status, nth }),
    {
      minLength: 1,
      maxLength: 3,
    },
  ),
});
const importAll = write('import', imported, (model, { copies, made }) => {
  const items = copies.flatMap((n) => model.memories.get(idOf(model, n)) ?? []);
  for (const { id, fields, status, nth } of made) {
    const createdAt = iso(clock.now - 1_000 * (nth % 3));
    const { nth: _, changed: __, ...given } = fields;
    items.push({ ...timed(given), id, type: 'profile', status, version: 1 + nth ** 8, createdAt });
  }
  const sent = items.map((one) => ({ ...one, updatedAt: one.createdAt }));
  return {
    request: items,
    send: (door, options) => door.import(sent, options),
    apply: () => ({ value: model.import(items) }),
  };
});

export const writes = [save, save, update, update, remove, erase, ingest, batch, importAll];
