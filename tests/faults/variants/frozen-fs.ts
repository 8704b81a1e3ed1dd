import * as fs from 'node:fs';
import { frozen } from './frozen.ts';

export * from 'node:fs';
export { default } from 'node:fs';

type Look = (path: unknown, ...rest: never[]) => fs.Stats | undefined;
const [stat, lstat] = [fs.statSync as unknown as Look, fs.lstatSync as unknown as Look];
export const statSync: Look = (path, ...rest) => frozen(path, () => stat(path, ...rest));
export const lstatSync: Look = (path, ...rest) => frozen(path, () => lstat(path, ...rest));
