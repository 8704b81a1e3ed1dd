import { failFirstCheckpoint } from './failing-sync.ts';

failFirstCheckpoint('all');
