import type { Engine, ShortEngine } from './engine.ts';
import { noProject, type ReaderPool } from './reader-pool.ts';

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

  return {
    write(operation, input) {
      activeProject(input);
      return short.write(operation, input);
    },
    readShort(operation, input) {
      activeProject(input);
      return short.readShort(operation, input);
    },
    read: ({ name: operation }, input) =>
      readers.read({ projectId: activeProject(input), operation, argument: input }),
    search: ({ name: operation }, input, { index: user, signal }) =>
      readers.read({ projectId: activeProject(input), operation, argument: input, user, signal }),
  };
}
