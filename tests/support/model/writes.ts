import fc from 'fast-check';
import { idOf, metadata, nth, onMemory, status, users, words, write } from './command.ts';
import { clock, type Fields, type Item, iso } from './model.ts';

/* The commands that write. */

const types = ['document', 'event', 'ticket'] as const;
const text = fc.subarray(words, { minLength: 1, maxLength: 2 }).map((some) => some.join(' '));
/** `seconds` is the time until the memory expires, because the clock moves. */
const changes = {
  content: text,
  metadata,
  occurredAt: fc.constantFrom(null, '2025-01-01T00:00:00.000Z'),
  seconds: fc.constantFrom(null, null, null, 1, 60),
};
const fields = fc.record({
  ...changes,
  userId: fc.constantFrom('ada', ...users),
  source: fc.constantFrom('s', null),
  externalId: fc.constantFrom('1', '2', null),
});

function timed<T extends { seconds: number | null }>({ seconds, ...rest }: T) {
  return { ...rest, expiresAt: seconds === null ? null : iso(clock.now + 1_000 * seconds) };
}

const save = write('save', fields, (model, args, version) => {
  const given: Fields = timed(args);
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
  const item: Item = { ...timed(args.fields), type: args.type };
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
  const items = records.map(({ fields, type }): Item => ({ ...timed(fields), type, ...same }));
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
  made: fc.array(fc.record({ id: fc.constantFrom('mem_i1', 'mem_i2'), fields, status, nth }), {
    minLength: 1,
    maxLength: 3,
  }),
});
const importAll = write('import', imported, (model, { copies, made }) => {
  const items = copies.flatMap((n) => model.memories.get(idOf(model, n)) ?? []);
  for (const { id, fields, status, nth } of made) {
    const createdAt = iso(clock.now - 1_000 * nth);
    items.push({ ...timed(fields), id, type: 'profile', status, version: nth + 1, createdAt });
  }
  const sent = items.map((one) => ({ ...one, updatedAt: one.createdAt }));
  return {
    request: items,
    send: (door, options) => door.import(sent, options),
    apply: () => ({ value: model.import(items) }),
  };
});

export const writes = [save, save, update, update, remove, erase, ingest, batch, importAll];
