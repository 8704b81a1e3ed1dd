import { mkdirSync, writeFileSync } from 'node:fs';
import { noHome } from '../support/process.ts';
import type { TestServer } from '../support/server.ts';

/** The command that runs the program in a separate process. */
export const program = [process.execPath, `${process.cwd()}/cli/main.ts`];

/** Writes the command to `bin`, which is to be in PATH. */
export function installCommand(folder: { file(name: string): string }): void {
  mkdirSync(folder.file('bin'));
  const script = `#!/bin/sh\nexec '${program.join("' '")}' "$@"\n`;
  writeFileSync(folder.file('bin/memory'), script, { mode: 0o755 });
}

/** Returns a function that runs shell lines against the server. $MEMORY expands to the command. */
export function shellAt(server: TestServer) {
  return (line: string, env: Record<string, string> = {}) => {
    const child = Bun.spawn(['bash', '-c', line], {
      env: {
        PATH: process.env.PATH,
        MEMORY: program.join(' '),
        ...noHome,
        MEMORY_BASE_URL: server.url,
        MEMORY_API_KEY: server.key,
        ...env,
      },
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const done = Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    const ended = done.then(([stdout, stderr, code]) => ({ stdout, stderr, code }));
    return { child, ended };
  };
}
