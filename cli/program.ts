import { loadEveryCommand } from './commands.ts';
import type { Io } from './io.ts';
import { createRoot } from './root.ts';

/** The program with all of its commands. To run one of them, run.ts loads no other. */
export async function createProgram(io: Io) {
  const program = createRoot(io);
  for (const add of await loadEveryCommand()) add(program, io);
  return program;
}
