import { patchSource } from './patch.ts';
import { variants } from './table.ts';

/** Before a command that a harness breaks on purpose: changes its source on the way in. */
const names = process.env.FAULT_VARIANTS?.split(',') ?? [];
patchSource(names.flatMap((name) => variants[name]?.patches ?? []));
