import { emptyProject, type Project, writeScenario } from './project.ts';

export type Target = { url: string; key: string };

let users = 0;

export function environment({ url, key }: Target): Record<string, string> {
  users += 1;
  return { BASE_URL: url, KEY: key, USER_ID: `user-${users}` };
}

/** Installs the packed SDK and the runtime's packages into an empty project. */
export async function projectWith(sdk: string, ...more: string[]): Promise<Project> {
  const project = await emptyProject();
  await project.install(sdk, ...more);
  await writeScenario(project);
  return project;
}

export async function onBun(sdk: string, target: Target): Promise<string> {
  await using project = await projectWith(sdk);
  const done = await project.run([process.execPath, 'main.js'], environment(target));
  return `Bun ${Bun.version}: ${done}`;
}

export async function onNode(sdk: string, target: Target, node: string[]): Promise<string> {
  await using project = await projectWith(sdk);
  const done = await project.run([...node, 'main.js'], environment(target));
  return `Node ${await project.run([...node, '--version'])}: ${done}`;
}

export async function onNewestNode(sdk: string, target: Target): Promise<string> {
  await using project = await emptyProject();
  await project.install('node@latest');
  return await onNode(sdk, target, [project.file('node_modules/node/bin/node')]);
}

const workerText = `
import * as sdk from 'memory-service-sdk';
import { scenario } from './scenario.js';
export default {
  async fetch(request, { BASE_URL: baseUrl, KEY: apiKey, USER_ID: userId }) {
    try {
      return new Response(await scenario(sdk, { baseUrl, apiKey, userId }));
    } catch (error) {
      return new Response(error.stack ?? String(error), { status: 500 });
    }
  },
};
`;

const miniflareText = `
import { readFileSync } from 'node:fs';
import { Miniflare } from 'miniflare';
const { BASE_URL, KEY, USER_ID } = process.env;
const worker = new Miniflare({
  modules: true,
  script: readFileSync('worker-bundle.js', 'utf8'),
  compatibilityDate: '2025-01-01',
  bindings: { BASE_URL, KEY, USER_ID },
});
const response = await worker.dispatchFetch('http://worker.test/');
console.log(await response.text());
await worker.dispose();
process.exitCode = response.ok ? 0 : 1;
`;

export async function onMiniflare(sdk: string, target: Target): Promise<string> {
  await using project = await projectWith(sdk, 'miniflare@latest');
  await project.write('worker.js', workerText);
  await project.write('miniflare.js', miniflareText);
  await bundle(project, 'worker.js', 'worker-bundle.js');
  const done = await project.run(['node', 'miniflare.js'], environment(target));
  const { version } = await Bun.file(project.file('node_modules/workerd/package.json')).json();
  return `workerd ${version}: ${done}`;
}

/** Bundles and minifies the module for browsers. Returns the gzipped size in bytes. */
export async function bundle(project: Project, entry: string, outfile: string): Promise<number> {
  const built = await Bun.build({
    entrypoints: [project.file(entry)],
    target: 'browser',
    minify: true,
  });
  const [output] = built.outputs;
  if (output === undefined) throw new Error('nothing was built');
  const text = await output.text();
  await project.write(outfile, text);
  return Bun.gzipSync(Buffer.from(text)).length;
}

/** Bundles the whole SDK, ofetch included. Throws if it is not under 8 KiB gzipped. */
export async function bundleWhole(project: Project): Promise<number> {
  await project.write('whole.js', `export * from 'memory-service-sdk';`);
  const bytes = await bundle(project, 'whole.js', 'whole-bundle.js');
  if (bytes >= 8 * 1024) throw new Error(`${bytes} bytes gzipped, expected fewer than 8,192`);
  return bytes;
}
