import { useState } from 'preact/hooks';
import { memoryStatuses, memoryTypes } from '../../sdk/contract/enumerations.ts';
import type { FilterFields } from '../../sdk/index.ts';
import { Input, Select } from './parts.tsx';
import { replaceQuery } from './router.ts';

const names = ['type', 'status', 'source', 'from', 'to', 'metadata'];

type Query = Record<string, string>;

/** The filters of a list or a search. They are part of the address. */
export function Filters({ query }: { query: Query }) {
  const used = names.filter((name) => query[name]).length;
  const [isOpen] = useState(used > 0);
  const bound = (name: string) => ({
    value: query[name] ?? '',
    onValue: (value: string) => replaceQuery({ [name]: value }),
  });
  return (
    <details class="filters" open={isOpen}>
      <summary>Filters{used > 0 && ` (${used})`}</summary>
      <div class="row">
        <Select label="Type" options={optionsOf(memoryTypes)} {...bound('type')} />
        <Select label="Status" options={optionsOf(memoryStatuses)} {...bound('status')} />
        <Input label="Source" type="text" {...bound('source')} />
        <Input label="Metadata, as key=value" type="text" {...bound('metadata')} />
        <Input label="From" type="date" {...bound('from')} />
        <Input label="Before" type="date" {...bound('to')} />
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

function optionsOf(values: readonly string[]): Record<string, string> {
  return { '': 'All', ...Object.fromEntries(values.map((value) => [value, value])) };
}

/** An address can contain anything. The service judges the other values. */
export function filtersOf({ type, status, source, from, to, metadata = '' }: Query): FilterFields {
  const [, key, value] = /^([^=]+)=(.+)$/.exec(metadata) ?? [];
  return {
    ...(source && { source }),
    ...instant('from', from),
    ...instant('to', to),
    ...(isOneOf(memoryTypes, type) && { type }),
    ...(isOneOf(memoryStatuses, status) && { status }),
    ...(key && value && { metadata: { [key.trim()]: value.trim() } }),
  };
}

/** The day begins at midnight of the browser's time zone, in which the times are shown. */
function instant(name: 'from' | 'to', day = '') {
  const at = new Date(`${day}T00:00`);
  return Number.isNaN(at.getTime()) ? {} : { [name]: at.toISOString() };
}

function isOneOf<T>(values: readonly T[], text: unknown): text is T {
  return values.includes(text as T);
}
