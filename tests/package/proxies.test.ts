import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { $ } from 'bun';
import { MemoryClient } from '../../sdk/index.ts';
import { program } from '../cli/shell.ts';
import { backend, emptyDatabase } from '../support/backend.ts';
import { temporaryFolder } from '../support/folder.ts';
import { type Child, freePort, startChild } from '../support/process.ts';
import { until } from '../support/until.ts';

/*
 * Restarts the service under load behind the proxies of deploy/, with TLS. With
 * TEST_BACKEND=postgres, there are two servers, which restart in turn. Proxies that are not
 * installed are skipped.
 */

const root = join(import.meta.dir, '../..');
const apiKey = 'mk_of_the_proxied_service';
const userId = 'ada';
const senders = 8;
const serverCount = backend === 'postgres' ? 2 : 1;
const restarts = 5;
const savesBetween = 200;
/** As docs/deploy.md recommends for slow machines: nginx cannot hold requests back. */
const maxRetries = 5;

let folder: ReturnType<typeof temporaryFolder>;
let children: Child[];
beforeEach(() => {
  folder = temporaryFolder();
  children = [];
});
afterEach(async () => {
  await Promise.all(children.map((child) => child.end('SIGTERM')));
  folder[Symbol.dispose]();
});

/** The ports of the servers and of the proxy. */
type Ports = { servers: number[]; proxy: number };
type Proxy = { command: string[]; env?: Record<string, string>; certificate: string };

/** Serves the repository's Caddyfile as it is, without changes to the system or other ports. */
async function caddy({ servers, proxy }: Ports): Promise<Proxy> {
  const options = '{\nadmin off\nskip_install_trust\nauto_https disable_redirects\n}\n';
  const site = await Bun.file(join(root, 'deploy/Caddyfile')).text();
  await Bun.write(folder.file('Caddyfile'), options + site);
  const data = { XDG_DATA_HOME: folder.path, XDG_CONFIG_HOME: folder.path, HOME: folder.path };
  return {
    command: ['caddy', 'run', '--config', folder.file('Caddyfile'), '--adapter', 'caddyfile'],
    env: {
      ...data,
      MEMORY_SITE: `localhost:${proxy}`,
      MEMORY_SERVERS: servers.map((port) => `127.0.0.1:${port}`).join(' '),
    },
    certificate: folder.file('caddy/pki/authorities/local/root.crt'),
  };
}

/** Serves the repository's nginx.conf with other ports and a self-signed certificate. */
async function nginx({ servers, proxy }: Ports): Promise<Proxy> {
  const [certificate, key] = [folder.file('cert.pem'), folder.file('cert.key')];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  await $`openssl req -x509 -newkey rsa:2048 -nodes -days 1 ${names} -keyout ${key} -out ${certificate}`.quiet();
  const text = (await Bun.file(join(root, 'deploy/nginx.conf')).text())
    .replace('server 127.0.0.1:7070;', servers.map((port) => `server 127.0.0.1:${port};`).join(' '))
    .replace('listen 443', `listen 127.0.0.1:${proxy}`)
    .replace('memory.example;', 'localhost;')
    .replace('/etc/ssl/memory.example.pem', certificate)
    .replace('/etc/ssl/memory.example.key', key);
  const top = `daemon off; pid ${folder.file('pid')}; error_log stderr; events {}\n`;
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const temporary = paths.map((name) => `${name}_temp_path ${folder.file(name)};`).join(' ');
  const http = `http { access_log off; ${temporary}\n${text}\n}\n`;
  await Bun.write(folder.file('nginx.conf'), top + http);
  return { command: ['nginx', '-c', folder.file('nginx.conf')], certificate };
}

function start(command: string[], env: Record<string, string> = {}): Child {
  const child = startChild(command, env);
  children.push(child);
  return child;
}

const isHealthy = (port: number) => {
  const health = () => fetch(`http://127.0.0.1:${port}/health`).catch(() => null);
  return until(health, { what: 'a server', fits: ({ ok }) => ok });
};

/** Saves without a pause until `stop` is called. `failures` are the calls that failed for good. */
function saveWithoutPause(client: MemoryClient) {
  const saved = new Set<string>();
  const failures: string[] = [];
  let running = true;
  const sending = Array.from({ length: senders }, async (_, sender) => {
    for (let count = 0; running; count += 1) {
      const content = `${sender}-${count}`;
      await client.save({ userId, content }).then(
        () => saved.add(content),
        (error) => failures.push(String(error)),
      );
    }
  });
  async function stop(): Promise<void> {
    running = false;
    await Promise.all(sending);
  }
  return { saved, failures, stop };
}

const proxies = Object.entries({ caddy, nginx }).filter(([name]) => Bun.which(name) !== null);

describe.each(proxies)('behind %s', (_, configure) => {
  test('a restart under load loses and duplicates nothing, and no call fails', async () => {
    const ports = { servers: Array.from({ length: serverCount }, freePort), proxy: freePort() };
    const { command, env = {}, certificate } = await configure(ports);
    const database = await emptyDatabase();
    const settings = {
      MEMORY_DATABASE_URL: database.url,
      MEMORY_API_KEY: apiKey,
      MEMORY_RATE_LIMIT: 'off',
      MEMORY_EMBEDDINGS: 'off',
      LOG_LEVEL: 'silent',
    };
    const serve = (port: number) => start([...program, 'serve', '--port', String(port)], settings);
    const services = ports.servers.map(serve);
    await Promise.all(ports.servers.map(isHealthy));
    start(command, env);
    await until(() => Bun.file(certificate).exists(), { what: 'the certificate' });
    const ca = await Bun.file(certificate).text();
    const client = new MemoryClient({
      apiKey,
      baseUrl: `https://localhost:${ports.proxy}`,
      maxRetries,
      fetch: (url, init) => fetch(url, { ...init, tls: { ca } }),
    });
    await until(() => client.health().then(Boolean, () => false), { what: 'the proxy' });
    const load = saveWithoutPause(client);
    for (let count = 1; count <= restarts; count += 1) {
      await until(() => load.saved.size >= count * savesBetween, { what: 'the saves' });
      const turn = count % serverCount;
      const port = ports.servers[turn] ?? 0;
      expect(await services[turn]?.end('SIGTERM')).toBe(0);
      services[turn] = serve(port);
      if (serverCount > 1) await isHealthy(port);
    }
    await until(() => load.saved.size >= (restarts + 1) * savesBetween, { what: 'the saves' });
    await load.stop();
    const stored = await Array.fromAsync(client.list({ userId }), ({ content }) => content);
    expect(load.failures).toEqual([]);
    expect(stored.toSorted()).toEqual([...load.saved].toSorted());
    // As the documentation says, Node, Bun and the CLI accept the certificate with this variable.
    const health = [...program, 'health', '--base-url', `https://localhost:${ports.proxy}`];
    await $`${health}`.env({ ...process.env, NODE_EXTRA_CA_CERTS: certificate }).quiet();
    await Promise.all(children.map((child) => child.end('SIGTERM')));
    await database.remove();
  });
});
