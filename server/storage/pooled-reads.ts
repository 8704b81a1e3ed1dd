import type { Engine, ShortEngine } from './engine.ts';
import { noProject, type ReaderPool } from './reader-pool.ts';
import { nameOf } from './storage.ts';

/** Returns the project whose turn an operation uses. */
export function projectOf(input: unknown): number {
  const { projectId = noProject } = (input ?? {}) as { projectId?: number };
  return projectId;
}

/** The engine of the HTTP thread. Notes which projects are active. */
export function createEngine(readers: ReaderPool, short: ShortEngine): Engine {
  function activeProject(input: unknown): number {
    const projectId = projectOf(input);
    if (projectId !== noProject) readers.noteActive(projectId);
    return projectId;
  }

  function requestOf(operation: object, input: unknown) {
    return { projectId: activeProject(input), operation: nameOf(operation), argument: input };
  }

  return {
    write(operation, input) {
      activeProject(input);
      return short.write(operation, input);
    },
    readShort(operation, input) {
      activeProject(input);
      return short.readShort(operation, input);
    },
    read: (operation, input) => readers.read(requestOf(operation, input)),
    search: (operation, input, { index: user, signal }) =>
      readers.read({ ...requestOf(operation, input), user, signal }),
  };
}
