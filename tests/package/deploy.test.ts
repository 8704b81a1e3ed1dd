import { describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { $, YAML } from 'bun';
import { commandNames } from '../../cli/terminal/terminal.ts';
import { readConfig, settingWarnings } from '../../server/config.ts';
import { temporaryFolder } from '../support/folder.ts';

/* The files in deploy/ agree with the service, with each other and with the documentation. */

const root = join(import.meta.dir, '../..');
const textOf = (path: string) => Bun.file(join(root, path)).text();
const defaults = readConfig({});

const dockerfile = await textOf('deploy/Dockerfile');
const unit = await textOf('deploy/memory-service.service');
const nginx = await textOf('deploy/nginx.conf');
const caddyfile = await textOf('deploy/Caddyfile');
type Compose = { services: Record<string, { environment?: Env; ports?: string[] }> };
const compose = await yamlOf<[Compose]>('deploy/compose.yaml');
const scale = await yamlOf<[Compose]>('deploy/compose.scale.yaml');
const [service, stateful] = await yamlOf<[Service, StatefulSet]>('deploy/kubernetes.yaml');

type Env = Record<string, string>;
type Service = { spec: { ports: { port: number }[]; selector: object } };
type Container = {
  env: { name: string; value: string }[];
  ports: { containerPort: number }[];
  volumeMounts: { name: string; mountPath: string }[];
};
type StatefulSet = {
  spec: {
    template: {
      metadata: { labels: object };
      spec: { containers: [Container]; securityContext: { runAsUser: number; fsGroup: number } };
    };
    volumeClaimTemplates: { metadata: { name: string } }[];
  };
};

/** Parses all documents of a file whose variables have been replaced as Compose does. */
async function yamlOf<T>(path: string): Promise<T> {
  const values: Env = { POSTGRES_PASSWORD: 'secret' };
  const text = (await textOf(path)).replace(
    /\$\{(\w+)(?::[-?]([^}]*))?\}/g,
    (_, name, fallback = '') => values[name] ?? fallback,
  );
  const documents = text.split(/^---$/m).map((part) => YAML.parse(part));
  return documents as T;
}

/** The values of lines that begin with the word, in a Dockerfile or a unit. */
const valuesOf = (text: string, word: string) =>
  [...text.matchAll(new RegExp(`^${word}[ =](.+)$`, 'gm'))].map(([, value = '']) => value);

function pairsOf(words: string[]): Env {
  return Object.fromEntries(words.map((word) => word.split(/=(.*)/s, 2) as [string, string]));
}

const image = pairsOf(valuesOf(dockerfile, 'ENV').flatMap((line) => line.split(' ')));
const { TMPDIR: temporary, ...imageSettings } = image;
const container = stateful.spec.template.spec.containers[0];
const inPod = Object.fromEntries(container.env.map(({ name, value }) => [name, value]));
const serversOf = ([{ services }]: [Compose]) =>
  Object.entries(services).filter(([name]) => name.startsWith('memory'));

const environments: [file: string, Env][] = [
  ['Dockerfile', imageSettings],
  ['memory-service.service', pairsOf(valuesOf(unit, 'Environment'))],
  ['kubernetes.yaml', inPod],
  ...[...serversOf(compose), ...serversOf(scale)].map(
    ([name, { environment = {} }]): [string, Env] => [`Compose: ${name}`, environment],
  ),
];

test.each(environments)('%s contains only settings that the service has', (_, env) => {
  expect(Object.keys(env)).not.toEqual([]);
  expect(
    Object.keys(env).filter((name) => !/^(MEMORY_|HOST$|PORT$|LOG_LEVEL$)/.test(name)),
  ).toEqual([]);
  expect(settingWarnings(env)).toEqual([]);
  expect(() => readConfig(env)).not.toThrow();
});

test('every file uses the default port', () => {
  const ports = [
    ...valuesOf(dockerfile, 'EXPOSE'),
    ...service.spec.ports.map(({ port }) => port),
    ...container.ports.map(({ containerPort }) => containerPort),
    ...(compose[0].services.memory?.ports ?? []).flatMap((port) => port.split(':').slice(1)),
    ...[caddyfile, nginx, JSON.stringify(scale)].flatMap((text) =>
      [...text.matchAll(/(?:127\.0\.0\.1|memory-\d):(\d+)/g)].map(([, port]) => port),
    ),
  ].map(Number);
  expect(ports.length).toBeGreaterThanOrEqual(9);
  expect(new Set(ports)).toEqual(new Set([defaults.port]));
});

test('every command that a file or its documentation runs exists', async () => {
  const manifests = ['compose.yaml', 'compose.scale.yaml', 'kubernetes.yaml'];
  const files = await Promise.all(manifests.map((name) => textOf(`deploy/${name}`)));
  const pages = await Promise.all(['deploy', 'backup'].map((name) => textOf(`docs/${name}.md`)));
  const code = pages.flatMap((page) => page.match(/^```.*?^```|`[^`\n]+`/gms) ?? []);
  const text = [...files, ...code, unit, dockerfile.replace(/"(?:, )?/g, ' ')].join('\n');
  // "memory memory keys": the first word names a container or a user, the second is the command.
  const called = text.matchAll(/\bmemory(?:-\d)? +(?:memory )?([a-z]+)/g);
  const names = new Set([...called].map(([, name = '']) => name));
  expect([...names].filter((name) => !commandNames.includes(name))).toEqual([]);
  for (const name of ['serve', 'health', 'keys', 'backup', 'restore'])
    expect(names).toContain(name);
});

test("data, temporary files and the working directory are in the image's volume", () => {
  const [volume = ''] = valuesOf(dockerfile, 'VOLUME');
  expect(valuesOf(dockerfile, 'WORKDIR')).toContain(volume);
  expect(temporary).toBe(volume);
  expect(imageSettings.MEMORY_DATABASE_URL).toStartWith(`sqlite:${volume}/`);
  expect(container.volumeMounts.map(({ mountPath }) => mountPath)).toEqual([volume]);
  expect(JSON.stringify(compose)).toContain(`data:${volume}`);
});

test('the image, the pod and the documentation name one user', async () => {
  const { securityContext } = stateful.spec.template.spec;
  const ids = [securityContext.runAsUser, securityContext.fsGroup].join(':');
  expect(valuesOf(dockerfile, 'USER')).toEqual([ids]);
  expect(dockerfile).toContain(`--chown=${ids}`);
  expect(await textOf('docs/deploy.md')).toContain(`user ${securityContext.runAsUser}`);
});

test('the names in the Kubernetes manifest refer to each other', () => {
  expect(service.spec.selector).toEqual(stateful.spec.template.metadata.labels);
  const claims = stateful.spec.volumeClaimTemplates.map(({ metadata }) => metadata.name);
  expect(container.volumeMounts.map(({ name }) => name)).toEqual(claims);
});

test('nginx accepts a larger body than the service', () => {
  const [, megabytes] = /client_max_body_size (\d+)m;/.exec(nginx) ?? [];
  expect(Number(megabytes) * 1024 ** 2).toBeGreaterThan(defaults.maxBodyBytes);
});

describe('the systemd unit', () => {
  const [state = ''] = valuesOf(unit, 'StateDirectory');

  test('keeps the database in its state directory, as the documentation says', async () => {
    const url = `sqlite:/var/lib/${state}/memory.db`;
    expect(unit).toContain(`MEMORY_DATABASE_URL=${url}\n`);
    const page = await textOf('docs/deploy.md');
    expect(page).toContain(`MEMORY_DATABASE_URL=${url}`);
    const [user] = valuesOf(unit, 'User');
    expect(page).toContain(`nologin ${user}\n`);
  });

  test.skipIf(Bun.which('systemd-analyze') === null)(
    'is valid and as restricted as the documentation says',
    async () => {
      using folder = temporaryFolder();
      const file = folder.file('memory-service.service');
      await Bun.write(file, unit.replace('/usr/local/bin/memory', '/bin/true'));
      expect((await $`systemd-analyze verify ${file}`.quiet()).stderr.toString()).toBe('');
      const rated = await $`systemd-analyze security --offline=true --no-pager ${file}`.text();
      const [, exposure] = /exposure level for .*: ([\d.]+)/.exec(rated) ?? [];
      expect(await textOf('docs/deploy.md')).toContain(`exposure ${exposure} `);
    },
  );
});

test('the Dockerfile copies everything in the repository but what the build does not need', async () => {
  const files = await $`git ls-files`.cwd(root).text();
  const names = new Set(files.split('\n').map((path) => path.split('/')[0] ?? ''));
  const copied = valuesOf(dockerfile, 'COPY')
    .filter((line) => !line.startsWith('--from'))
    .flatMap((line) => line.split(' ').slice(0, -1));
  const unneeded = ['.ci', '.github', 'deploy', 'docs', 'tests', 'biome.json', 'server.json'];
  const text = ['ARCHITECTURE', 'CODE_OF_CONDUCT', 'CONTRIBUTING', 'SECURITY'];
  const hidden = ['', '.gitattributes', '.gitignore'];
  const known = [...copied, ...unneeded, ...text.map((name) => `${name}.md`), ...hidden];
  expect([...names].filter((name) => !known.includes(name))).toEqual([]);
  expect(copied.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
