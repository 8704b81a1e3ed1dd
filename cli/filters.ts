import type { FilterFields } from '../sdk/index.ts';
import { type AnyCommand, InvalidArgumentError, Option } from './commander.ts';
import { addMetadata, definedOnly, option, parseMoment, parseName } from './options.ts';

const types = ['memory', 'ticket', 'document', 'conversation', 'event', 'profile'] as const;
const time = 'only memories from this time on, for example 2026-05 or 2026-05-08';
const pair = 'only memories with this metadata; may be repeated, and then all must match';

export function addFilters(command: object & AnyCommand): void {
  command
    .addOption(new Option('--type <type>', 'only memories of this type').choices(types))
    .addOption(option('--source <name>', 'only memories from this source system', parseName))
    .addOption(
      option('--external-id <id>', 'only memories with this id in the source system', parseName),
    )
    .addOption(option('--from <time>', time, parseMoment))
    .addOption(option('--to <time>', 'only memories before this time', parseMoment))
    .addOption(option('-m, --metadata <key=value>', pair, addFilter));
}

/** Returns the filters that are set, under their API names. */
export function filtersOf(command: object & AnyCommand): FilterFields {
  const { type, source, externalId, from, to, metadata }: FilterFields = command.opts();
  return definedOnly({ type, source, externalId, from, to, metadata });
}

type Wanted = NonNullable<FilterFields['metadata']>;

function addFilter(pair: string, previous: Wanted | undefined): Wanted {
  const wanted: Wanted = {};
  for (const [key, value] of Object.entries(addMetadata(pair, previous))) {
    if (typeof value === 'object') {
      throw new InvalidArgumentError('The value of a filter must be a string, number or boolean.');
    }
    wanted[key] = value;
  }
  return wanted;
}
