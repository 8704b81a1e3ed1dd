import { memoryStatuses, memoryTypes } from '../sdk/contract/enumerations.ts';
import type { FilterFields } from '../sdk/index.ts';
import { type AnyCommand, Option } from './commander.ts';
import { addMetadata, definedOnly, parseName, parsePast } from './options.ts';

const time = 'only memories from this time on, for example 3d (ago), 2026-05 or 2026-05-08';
const pair = 'only memories with this metadata; may be repeated, and all must match';

export function addFilters(command: object & AnyCommand): void {
  command
    .addOption(new Option('--type <type>', 'only memories of this type').choices(memoryTypes))
    .addOption(
      new Option('--status <status>', 'only memories with this status').choices(memoryStatuses),
    )
    .option('--source <name>', 'only memories from this source system', parseName)
    .option('--external-id <id>', 'only memories with this id in the source system', parseName)
    .option('--from <time>', time, parsePast)
    .option('--to <time>', 'only memories before this time', parsePast)
    .option('-m, --metadata <key=value>', pair, addMetadata);
}

export function filtersOf(command: object & AnyCommand): FilterFields {
  const { type, status, source, externalId, from, to, metadata }: FilterFields = command.opts();
  return definedOnly({ type, status, source, externalId, from, to, metadata });
}
