import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { $ } from 'bun';

export type Project = Awaited<ReturnType<typeof emptyProject>>;

/** An empty project outside the repository, so that it cannot resolve the repository's modules. */
export async function emptyProject() {
  const folder = await mkdtemp(join(tmpdir(), 'memory-project-'));
  const file = (name: string) => join(folder, name);
  async function write(name: string, text: string) {
    await Bun.write(file(name), text);
    return file(name);
  }
  await write('package.json', '{ "private": true, "type": "module" }');
  return {
    folder,
    file,
    write,
    async install(...packages: string[]) {
      await $`npm install --no-audit --no-fund --loglevel=error ${packages}`.cwd(folder).quiet();
    },
    /** Runs a command in the project. Returns its stdout, or throws with its output on failure. */
    run: (command: string[], env?: Record<string, string>) => run(command, folder, env),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

async function run(command: string[], cwd: string, env: Record<string, string> = {}) {
  const child = Bun.spawn(command, { cwd, env: { ...process.env, ...env }, stderr: 'pipe' });
  const [text, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) === 0) return text.trim();
  throw new Error(`${command.join(' ')} exited with status ${child.exitCode}\n${text}${errors}`);
}

/** The scenario as plain JavaScript, for any runtime. */
export async function scenarioText(): Promise<string> {
  const source = await Bun.file(join(import.meta.dir, 'scenario.ts')).text();
  return new Bun.Transpiler({ loader: 'ts' }).transformSync(source);
}

/** A module that runs the scenario with the project's installed SDK and prints the result. */
export const mainText = `
import * as sdk from 'memory-service-sdk';
import { scenario } from './scenario.js';
const { BASE_URL: baseUrl, KEY: apiKey, USER_ID: userId } = process.env;
console.log(await scenario(sdk, { baseUrl, apiKey, userId }));
`;

export async function writeScenario(project: Project): Promise<void> {
  await project.write('scenario.js', await scenarioText());
  await project.write('main.js', mainText);
}

/** Checks that files in the working directory neither run nor configure the command. */
export async function amongStrangers(
  project: Project,
  memory: string[],
  env?: Record<string, string>,
): Promise<void> {
  await project.write('bunfig.toml', 'preload = ["./none.ts"]\n');
  await project.write('.env', 'MEMORY_BASE_URL=http://x\n');
  const shown = JSON.parse(await project.run([...memory, 'profile', 'show', '--json'], env));
  if (shown.baseUrl.from !== 'default')
    throw new Error('the command read MEMORY_BASE_URL from .env');
  for (const name of ['bunfig.toml', '.env']) await Bun.file(project.file(name)).delete();
}
