import { applyVariants, chooseVariants } from './apply.ts';

/*
 * A preload module for every thread of a changed service and for the CLI. Each thread has its own
 * modules and prototypes, so a change to the main thread does not affect the other threads.
 */
const names = (process.env.FAULT_VARIANTS ?? '').split(',').filter((name) => name !== '');
applyVariants(chooseVariants(names));
