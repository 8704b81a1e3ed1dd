import { join } from 'node:path';
import type { SourceFile } from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/async';

export const root = join(import.meta.dir, '../..');

/** The error codes for unused names and unreachable code, which are valid results of a mutation. */
const leftOver = [6133, 6192, 6196, 6198, 7027];

/** Loads the project into the TypeScript compiler. Changes to files stay in memory. */
export async function openSources() {
  const changed = new Map<string, string>();
  const api = new API({ cwd: root, fs: { readFile: (path) => changed.get(path) } });
  const config = join(root, 'tsconfig.json');

  async function programWith(path: string, text: string) {
    changed.set(path, text);
    const fileChanges = { changed: [path] };
    const snapshot = await api.updateSnapshot({ openProjects: [config], fileChanges });
    const project = snapshot.getProject(config);
    if (project === undefined) throw new Error('tsconfig.json was not loaded');
    return { program: project.program, dispose: () => snapshot.dispose() };
  }

  return {
    async parse(path: string, text: string): Promise<SourceFile> {
      const full = join(root, path);
      const { program } = await programWith(full, text);
      const file = await program.getSourceFile(full);
      if (file === undefined) throw new Error(`${path} is not in tsconfig.json`);
      return file;
    },
    /** Whether the file would still pass the type check with this text. */
    async isValid(path: string, text: string): Promise<boolean> {
      const full = join(root, path);
      const original = await Bun.file(full).text();
      const { program, dispose } = await programWith(full, text);
      const found = [
        ...(await program.getSyntacticDiagnostics(full)),
        ...(await program.getSemanticDiagnostics(full)),
      ];
      await dispose();
      changed.set(full, original);
      return found.every(({ code }) => leftOver.includes(code));
    },
    close: () => api.close(),
  };
}
