import * as fs from 'node:fs/promises';
import { frozen } from './frozen.ts';

export * from 'node:fs/promises';
export const stat = frozen('stat', fs.stat as never) as typeof fs.stat;
export const lstat = frozen('lstat', fs.lstat as never) as typeof fs.lstat;
