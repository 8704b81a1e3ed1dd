import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { temporaryFolder } from '../support/folder.ts';
import { lines, type memoryAt, type Surroundings } from './command.ts';

export type Files = Record<string, string | Uint8Array>;

/** Creates temporary folders with files. `ingest` runs `memory ingest document` in the folder. */
export function foldersFor(memory: ReturnType<typeof memoryAt>) {
  return function inFolder(userId: string, files: Files = {}) {
    const folder = temporaryFolder();
    const write = (more: Files) => {
      for (const [name, content] of Object.entries(more)) {
        mkdirSync(dirname(folder.file(name)), { recursive: true });
        writeFileSync(folder.file(name), content);
      }
    };
    write(files);
    const ingest = (argv: string[], around: Surroundings = {}) =>
      memory(['ingest', 'document', '--user', userId, ...argv], { cwd: folder.path, ...around });
    /** Returns the data of the record that a file would be. */
    const read = async (name: string) =>
      JSON.parse(lines((await ingest([name, '--dry-run', '--json'])).stdout)[0] ?? '').data;
    return { ...folder, write, ingest, read };
  };
}

/** The file names in the rows that the command prints to a pipe. */
export const names = (stdout: string) => lines(stdout).map((line) => line.split('\t')[1]);
