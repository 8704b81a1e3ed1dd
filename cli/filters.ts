import type { FilterFields, MemoryStatus, MemoryType } from '../sdk/index.ts';
import { type AnyCommand, InvalidArgumentError, Option } from './commander.ts';
import { addMetadata, definedOnly, parseName, parsePast } from './options.ts';

/** The compiler checks that no type is missing. Importing the schema would delay each command. */
const types: Record<MemoryType, true> = {
  memory: true,
  ticket: true,
  document: true,
  conversation: true,
  event: true,
  profile: true,
};
const statuses: Record<MemoryStatus, true> = { processing: true, complete: true, failed: true };
const time = 'only memories from this time on, for example 3d (ago), 2026-05 or 2026-05-08';
const pair = 'only memories with this metadata; may be repeated, and all must match';

export function addFilters(command: object & AnyCommand): void {
  command
    .addOption(
      new Option('--type <type>', 'only memories of this type').choices(Object.keys(types)),
    )
    .addOption(
      new Option('--status <status>', 'only memories with this status').choices(
        Object.keys(statuses),
      ),
    )
    .option('--source <name>', 'only memories from this source system', parseName)
    .option('--external-id <id>', 'only memories with this id in the source system', parseName)
    .option('--from <time>', time, parsePast)
    .option('--to <time>', 'only memories before this time', parsePast)
    .option('-m, --metadata <key=value>', pair, addFilter);
}

export function filtersOf(command: object & AnyCommand): FilterFields {
  const { type, status, source, externalId, from, to, metadata }: FilterFields = command.opts();
  return definedOnly({ type, status, source, externalId, from, to, metadata });
}

/** Returns --from and --to as times: a duration such as 3d is another time in the next command. */
export function boundsOf(command: object & AnyCommand): string {
  const { from, to } = filtersOf(command);
  const bounds = Object.entries(definedOnly({ from, to }));
  return bounds.map(([name, time]) => `--${name} ${time} `).join('');
}

type Wanted = NonNullable<FilterFields['metadata']>;

function addFilter(pair: string, previous: Wanted | undefined): Wanted {
  const wanted = addMetadata(pair, previous);
  if (!Object.values(wanted).some((value) => typeof value === 'object')) return wanted as Wanted;
  throw new InvalidArgumentError('The value of a filter must be a string, number or boolean.');
}
