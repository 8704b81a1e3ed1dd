import { join } from 'node:path';
import { type Operation, writeHistory } from './history.ts';

export type Report = {
  memories: number;
  operations: number;
  /** Memories whose operations are not linearizable. */
  violations: string[];
  /** Memories for which the checker timed out. */
  undecided: string[];
};

export type Checker = { check(operations: Operation[]): Report };

/** Builds the checker in the folder, or returns the reason why it cannot be built. */
export function buildChecker(folder: string): Checker | string {
  const program = join(folder, 'check');
  if (Bun.which('go') === null) return 'Go is not installed, so the checker cannot be built';
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly', GOTOOLCHAIN: 'local' };
  const command = ['go', 'build', '-o', program, '.'];
  const built = Bun.spawnSync(command, { cwd: import.meta.dir, env });
  if (built.exitCode !== 0) return `the checker cannot be built: ${built.stderr.toString().trim()}`;
  return {
    check(operations) {
      const path = join(folder, 'history.jsonl');
      writeHistory(path, operations);
      const ran = Bun.spawnSync([program, path]);
      if (ran.exitCode !== 0) throw new Error(`the checker failed: ${ran.stderr}`);
      return JSON.parse(ran.stdout.toString()) as Report;
    },
  };
}
