import type { Engine } from './engine.ts';
import type { ReaderPool } from './reader-pool.ts';

/** Operations that belong to no project share this one's turn. */
const noProject = 0;

/** Returns the project whose turn an operation uses. */
export function projectOf(input: unknown): number {
  const { projectId = noProject } = (input ?? {}) as { projectId?: number };
  return projectId;
}

/** Like `projectOf`, and notes that the project is active. */
export function activeProject(readers: ReaderPool, input: unknown): number {
  const projectId = projectOf(input);
  if (projectId !== noProject) readers.noteActive(projectId);
  return projectId;
}

/** The part of an engine that runs in the reader threads. */
export function createPooledReads(readers: ReaderPool): Pick<Engine, 'read' | 'search'> {
  return {
    read({ name }, input) {
      const projectId = activeProject(readers, input);
      return readers.read({ projectId, operation: name, argument: input });
    },
    search({ name }, input, { index, signal }) {
      const projectId = activeProject(readers, input);
      return readers.read({ projectId, operation: name, argument: input, user: index, signal });
    },
  };
}
