import { applyVariants, chooseVariants } from './apply.ts';

/*
 * Runs first in every thread of a service that a harness breaks on purpose, and in a command line:
 * a thread has its own modules and prototypes, so what the main thread changed does not reach it.
 */
const names = (process.env.FAULT_VARIANTS ?? '').split(',').filter((name) => name !== '');
applyVariants(chooseVariants(names));
