import { failFirstSync } from './failing-sync.ts';

failFirstSync('get', 'TRUNCATE');
