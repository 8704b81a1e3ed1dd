import * as fs from 'node:fs/promises';
import { frozenLater } from './frozen.ts';

export * from 'node:fs/promises';
export const stat = (path: string) => frozenLater(path, () => fs.stat(path));
export const lstat = (path: string) => frozenLater(path, () => fs.lstat(path));
