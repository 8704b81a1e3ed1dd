import { cp, mkdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { $ } from 'bun';
import { startChild } from '../support/process.ts';
import { until } from '../support/until.ts';
import { emptyProject, type Project } from './project.ts';

const root = join(import.meta.dir, '../..');
/** The absolute paths in the Dockerfile. Each stage has its own folder for them. */
const absolute = /(?<![\w/])\/(?=(?:src|data|usr\/local\/bin|licenses)(?![\w-]))/g;

/**
 * Runs the steps of the Dockerfile in plain folders, because there may be no container engine and
 * no registry of images: copies, builds, serves with the image's settings, and checks its health.
 */
export async function buildAndServe(): Promise<string> {
  await using project = await emptyProject();
  const env: Record<string, string> = {};
  const commands = new Map<string, string[]>();
  let stage = '';
  for (const line of (await Bun.file(join(root, 'deploy/Dockerfile')).text()).split('\n')) {
    const [word = '', words = ''] = line.split(/ (.*)/s, 2);
    if (word === 'FROM') stage = project.file(/ AS (\w+)$/.exec(words)?.[1] ?? 'image');
    const rest = words.replace(absolute, `${stage}/`);
    if (word === 'COPY') await copy(rest, stage, project);
    if (word === 'RUN') await $`sh -c ${rest}`.cwd(join(stage, 'src')).quiet();
    if (word === 'ENV') Object.assign(env, Object.fromEntries(rest.split(' ').map(pairOf)));
    const command = /\[.*\]$/.exec(rest);
    if (command !== null) commands.set(word, JSON.parse(command[0]));
  }
  return await serve(join(stage, 'usr/local/bin'), env, commands);
}

const pairOf = (text: string) => text.split('=');

/** Relative paths are in the clone and in /src. With --from, the source is in another stage. */
async function copy(words: string, stage: string, project: Project): Promise<void> {
  const from = /--from=(\w+)/.exec(words)?.[1];
  const paths = words.split(' ').filter((word) => !word.startsWith('--'));
  const target = resolve(stage, 'src', paths.at(-1) ?? '');
  for (const path of paths.slice(0, -1)) {
    const source = from === undefined ? join(root, path) : path.replace(stage, project.file(from));
    const file = paths.at(-1)?.endsWith('/') ? join(target, basename(path)) : target;
    await mkdir(dirname(file), { recursive: true });
    await cp(source, file, { recursive: true });
  }
}

async function serve(folder: string, env: Record<string, string>, commands: Map<string, string[]>) {
  const port = String(20_000 + (process.pid % 10_000));
  const local = { HOST: '127.0.0.1', PORT: port, MEMORY_BASE_URL: `http://127.0.0.1:${port}` };
  const environment = { ...process.env, ...env, ...local };
  const [entry = '', ...args] = commandOf('ENTRYPOINT', 'CMD');
  const server = startChild([entry, ...args], environment);
  const isHealthy = async () =>
    (await $`${commandOf('HEALTHCHECK')}`.env(environment).quiet().nothrow()).exitCode === 0;
  await until(isHealthy, { what: 'the health check' });
  if ((await server.end('SIGTERM')) !== 0) throw new Error(`the server failed: ${server.log()}`);
  if (await isHealthy()) throw new Error('the health check succeeded without a server');
  const { size } = await stat(entry);
  return `healthy with the image's settings; ${size.toLocaleString('en')} bytes`;

  /** The first word names a program in the folder, as in the image's PATH. */
  function commandOf(...words: string[]): string[] {
    const [program = '', ...rest] = words.flatMap((word) => commands.get(word) ?? []);
    return [join(folder, program), ...rest];
  }
}
