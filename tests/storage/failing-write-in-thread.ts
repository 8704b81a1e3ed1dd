import { failFirstCheckpoint } from './failing-sync.ts';

failFirstCheckpoint('all', { code: 'SQLITE_IOERR_WRITE' });
