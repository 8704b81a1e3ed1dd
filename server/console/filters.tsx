import { useState } from 'preact/hooks';
import type { FilterFields, MemoryStatus, MemoryType } from '../../sdk/index.ts';
import { Field } from './parts.tsx';
import { replaceQuery } from './router.ts';

const types: MemoryType[] = ['memory', 'ticket', 'document', 'conversation', 'event', 'profile'];
const statuses: MemoryStatus[] = ['complete', 'processing', 'failed'];
const names = ['type', 'status', 'source', 'from', 'to', 'metadata'];

type Query = Record<string, string>;

/** The filters of a list or a search. They are part of the address. */
export function Filters({ query }: { query: Query }) {
  const used = names.filter((name) => query[name]).length;
  const [isOpen] = useState(used > 0);
  return (
    <details class="filters" open={isOpen}>
      <summary>Filters{used > 0 && ` (${used})`}</summary>
      <div class="row">
        <Choice name="type" label="Type" values={types} query={query} />
        <Choice name="status" label="Status" values={statuses} query={query} />
        <Entry name="source" label="Source" query={query} />
        <Entry name="metadata" label="Metadata, as key=value" query={query} />
        <Entry name="from" label="From" isDate query={query} />
        <Entry name="to" label="Before" isDate query={query} />
        {used > 0 && (
          <button
            type="button"
            onClick={() => replaceQuery(Object.fromEntries(names.map((name) => [name, ''])))}
          >
            Clear
          </button>
        )}
      </div>
    </details>
  );
}

type Named = { name: string; label: string; query: Query };

function Choice({ name, label, values, query }: Named & { values: readonly string[] }) {
  return (
    <Field label={label}>
      <select
        value={query[name] ?? ''}
        onChange={(event) => replaceQuery({ [name]: event.currentTarget.value })}
      >
        <option value="">All</option>
        {values.map((value) => (
          <option key={value}>{value}</option>
        ))}
      </select>
    </Field>
  );
}

function Entry({ name, label, query, isDate = false }: Named & { isDate?: boolean }) {
  const props = {
    value: query[name] ?? '',
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) =>
      replaceQuery({ [name]: currentTarget.value }),
  };
  return (
    <Field label={label}>
      {isDate ? <input type="date" {...props} /> : <input type="text" {...props} />}
    </Field>
  );
}

/** An address can contain anything. The service judges the other values. */
export function filtersOf({ type, status, source, from, to, metadata = '' }: Query): FilterFields {
  const [, key, value] = /^([^=]+)=(.+)$/.exec(metadata) ?? [];
  return {
    ...(source && { source }),
    ...(from && { from }),
    ...(to && { to }),
    ...oneOf('type', types, type),
    ...oneOf('status', statuses, status),
    ...(key && value && { metadata: { [key.trim()]: value.trim() } }),
  };
}

function oneOf<Name extends string, T extends string>(
  name: Name,
  values: readonly T[],
  text: string | undefined,
) {
  const value = values.find((one) => one === text);
  return value === undefined ? {} : ({ [name]: value } as Record<Name, T>);
}
