import { join } from 'node:path';
import { emptyProject, type Project } from '../package/project.ts';
import type { Case } from '../support/cases.ts';
import type { TestServer } from '../support/server.ts';

const packages = {
  fetch: ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0'],
  hey: '@hey-api/openapi-ts@0.99.0',
  generator: '@openapitools/openapi-generator-cli@2.41.0',
  types: ['typescript@5.9.3', '@types/node@20.19.25'],
};
const generatorVersion = '7.25.0';

/** Returns one case per generator, in which the unmodified client makes an agent's requests. */
export function clientCases(server: TestServer): Case[] {
  return [
    { name: 'client openapi-fetch', run: () => openapiFetch(server) },
    { name: 'client hey-api', run: () => heyApi(server) },
    { name: 'client openapi-generator ts', run: () => typescriptFetch(server) },
    { name: 'client openapi-generator python', run: () => python(server) },
    { name: 'client openapi-generator go', run: () => go(server) },
  ];
}

async function openapiFetch(server: TestServer): Promise<string> {
  await using project = await projectOf(server);
  await project.install(...packages.fetch, ...packages.types);
  await project.run(['node_modules/.bin/openapi-typescript', 'openapi.json', '-o', 'schema.ts']);
  return await runTypeScript(project, server, 'openapi-fetch.ts');
}

async function heyApi(server: TestServer): Promise<string> {
  await using project = await projectOf(server);
  await project.install(packages.hey, ...packages.types);
  await project.run(['node_modules/.bin/openapi-ts', '-i', 'openapi.json', '-o', 'generated']);
  return await runTypeScript(project, server, 'hey-api.ts');
}

async function typescriptFetch(server: TestServer): Promise<string> {
  await using project = await projectOf(server);
  await project.install(packages.generator, ...packages.types);
  await generate(project, 'typescript-fetch');
  return await runTypeScript(project, server, 'typescript-fetch.ts');
}

async function python(server: TestServer): Promise<string> {
  await using project = await projectOf(server);
  await project.install(packages.generator);
  await generate(project, 'python', '--package-name=memoryclient');
  await project.run(['python3', '-m', 'venv', 'venv']);
  await project.run(['venv/bin/pip', 'install', '--quiet', './generated']);
  await copyProgram(project, 'client.py');
  return await project.run(['venv/bin/python', 'client.py'], environment(server, 'python'));
}

async function go(server: TestServer): Promise<string> {
  await using project = await projectOf(server);
  await project.install(packages.generator);
  const module = ['--git-host=example.com', '--git-user-id=memory', '--git-repo-id=client'];
  await generate(project, 'go', '--package-name=memoryclient', ...module);
  const requires = 'require example.com/memory/client v0.0.0';
  const replaces = 'replace example.com/memory/client => ./generated';
  await project.write('go.mod', `module agent\n\ngo 1.23\n\n${requires}\n\n${replaces}\n`);
  await copyProgram(project, 'client.go');
  await project.run(['go', 'mod', 'tidy']);
  return await project.run(['go', 'run', 'client.go'], environment(server, 'go'));
}

async function projectOf(server: TestServer): Promise<Project> {
  const project = await emptyProject();
  const response = await fetch(`${server.url}/openapi.json`);
  await project.write('openapi.json', await response.text());
  return project;
}

async function generate(project: Project, generator: string, ...options: string[]): Promise<void> {
  const config = { 'generator-cli': { version: generatorVersion } };
  await project.write('openapitools.json', JSON.stringify(config));
  const command = ['node_modules/.bin/openapi-generator-cli', 'generate', '-i', 'openapi.json'];
  // The npm wrapper of openapi-generator reads and writes its settings in the folder $PWD.
  const env = { PWD: project.folder, INIT_CWD: project.folder };
  await project.run([...command, '-g', generator, '-o', 'generated', ...options], env);
}

async function copyProgram(project: Project, name: string): Promise<void> {
  await project.write(name, await Bun.file(join(import.meta.dir, 'clients', name)).text());
}

/** Type-checks the program against the generated client and runs it. */
async function runTypeScript(project: Project, server: TestServer, name: string): Promise<string> {
  await copyProgram(project, 'agent.ts');
  await copyProgram(project, name);
  const settings = ['--target', 'es2022', '--lib', 'es2023,dom,dom.iterable', '--strict'];
  const modules = ['--module', 'esnext', '--moduleResolution', 'bundler', '--skipLibCheck'];
  await project.run(['node_modules/.bin/tsc', name, '--noEmit', ...settings, ...modules]);
  return project.run([process.execPath, name], environment(server, name));
}

function environment(server: TestServer, userId: string): Record<string, string> {
  return { BASE_URL: server.url, KEY: server.key, USER_ID: userId };
}
