import * as fs from 'node:fs';
import { frozen } from './frozen.ts';

export * from 'node:fs';
export const statSync = frozen('statSync', fs.statSync as never) as typeof fs.statSync;
export const lstatSync = frozen('lstatSync', fs.lstatSync as never) as typeof fs.lstatSync;
