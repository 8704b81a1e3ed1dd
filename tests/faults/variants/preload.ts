import { applyVariants, chooseVariants } from './apply.ts';

/*
 * A preload module for every thread of a changed service, and for the command line. A thread has
 * its own modules and prototypes, so changes made in the main thread do not reach it.
 */
const names = (process.env.FAULT_VARIANTS ?? '').split(',').filter((name) => name !== '');
applyVariants(chooseVariants(names));
