import { applyVariants, chooseVariants } from './apply.ts';

/*
 * A preload module for every thread of a patched service, and for the command line. Each thread has
 * its own modules and prototypes, so patching the main thread does not affect the others.
 */
const names = (process.env.FAULT_VARIANTS ?? '').split(',').filter((name) => name !== '');
applyVariants(chooseVariants(names));
