import type { FilterFields } from '../sdk/index.ts';
import { InvalidArgumentError, Option } from './commander.ts';
import { addMetadata, definedOnly, option, parseMoment, parseName } from './options.ts';

/* The filters of a list or a search. */

const types = ['memory', 'ticket', 'document', 'conversation', 'event', 'profile'] as const;
const time = 'only what happened then or later, as 2026-05 or 2026-05-08';
const pair = 'only with this value; may be repeated, then all must match';

export const typeFilter = new Option('--type <type>', 'only this type').choices(types);
export const sourceFilter = option('--source <name>', 'only from this system', parseName);
export const externalIdFilter = option(
  '--external-id <id>',
  'only with this id in that system',
  parseName,
);
export const metadataFilter = option('-m, --metadata <key=value>', pair, addFilter);
export const fromFilter = option('--from <time>', time, parseMoment);
export const toFilter = option('--to <time>', 'only what happened before', parseMoment);

/** The given filters, under their names in the API. */
export function filtersOf(
  options: { [Name in keyof FilterFields]?: FilterFields[Name] | undefined },
) {
  const { type, source, externalId, from, to, metadata } = options;
  return definedOnly({ type, source, externalId, from, to, metadata });
}

type Wanted = NonNullable<FilterFields['metadata']>;

function addFilter(pair: string, previous: Wanted | undefined): Wanted {
  const wanted: Wanted = {};
  for (const [key, value] of Object.entries(addMetadata(pair, previous))) {
    if (typeof value === 'object') {
      throw new InvalidArgumentError('It is compared with a text, a number, true or false.');
    }
    wanted[key] = value;
  }
  return wanted;
}
