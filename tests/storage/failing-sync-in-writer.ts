import { failFirstCheckpoint } from './failing-sync.ts';

failFirstCheckpoint('get');
