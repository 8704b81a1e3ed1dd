import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Skipped } from '../harness.ts';
import type { Operation } from './history.ts';

type Report = {
  memories: number;
  operations: number;
  /** Memories whose operations are not linearizable. */
  violations: string[];
  /** Memories for which the checker timed out. */
  undecided: string[];
};

export type Checker = ReturnType<typeof buildChecker>;

/** Builds the checker in the folder. */
export function buildChecker(folder: string) {
  const program = join(folder, 'check');
  if (Bun.which('go') === null) throw new Skipped('Go is not installed');
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly', GOTOOLCHAIN: 'local' };
  const command = ['go', 'build', '-o', program, '.'];
  const built = Bun.spawnSync(command, { cwd: import.meta.dir, env });
  if (built.exitCode !== 0) throw new Skipped(`the checker cannot be built: ${built.stderr}`);
  return (operations: Operation[]): Report => {
    const path = join(folder, 'history.jsonl');
    writeFileSync(path, operations.map((operation) => `${JSON.stringify(operation)}\n`).join(''));
    const ran = Bun.spawnSync([program, path]);
    if (ran.exitCode !== 0) throw new Error(`the checker failed: ${ran.stderr}`);
    return JSON.parse(ran.stdout.toString()) as Report;
  };
}
