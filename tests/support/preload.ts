import { setPriority } from 'node:os';

/** The processes that tests start load no model, which would double the time of the tests. */
process.env.MEMORY_EMBEDDINGS ??= 'off';

/**
 * With another priority than the default, all threads of a service have the same one (see
 * yieldPriority). Otherwise, the tests would get the processor first, and on a busy machine a
 * search could take seconds.
 */
setPriority(1);
