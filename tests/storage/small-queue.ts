import { limits } from '../../sdk/contract/limits.ts';
import { smallQueueRecords } from './fixtures.ts';

/* Loaded first by each thread of a storage whose queue is to be full soon. */

Object.assign(limits, { pendingRecords: smallQueueRecords });
