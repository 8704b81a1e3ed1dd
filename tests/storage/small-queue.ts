import { limits } from '../../sdk/contract/limits.ts';
import { smallQueueRecords } from './fixtures.ts';

/* Preloaded in each thread of a storage, to lower the queue limit. */

Object.assign(limits, { pendingRecords: smallQueueRecords });
