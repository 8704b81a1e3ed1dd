import type { Benchmark, Context, Goal } from './kit/benchmark.ts';
import { cliEnv, memoryCommand, timeCommand } from './kit/cli.ts';
import { load } from './kit/load.ts';
import { median, short, showBytes, showCount } from './kit/numbers.ts';
import { firstPages } from './kit/paths.ts';
import { residentBytes, serviceEnv, startSubject } from './kit/process.ts';
import { benchKey, saves } from './kit/requests.ts';
import { inTurn } from './kit/rounds.ts';

const withinMs = 300;
/** Heaps breathe: what is more than this is growth. */
const growth = 1.1;
const quickSeconds = 3;
const fullSeconds = 60;

/** Bytes. */
type Resident = { idle: number; loaded: number[] };

/** From nothing to the first answer, and what the process needs of the machine's memory. */
export const startUp: Benchmark = {
  ids: ['S8'],
  title: 'Start and memory',
  async run(context) {
    const { size, quick } = context;
    const started = await measureStart(context);
    const resident = await measureMemory(context, quick ? quickSeconds : fullSeconds);
    const ms = median(started.serve);
    return {
      goals: [startGoal(ms, size), memoryGoal(resident, quick ? quickSeconds : fullSeconds, quick)],
      tables: [
        {
          title: '`memory serve` to the answer to a first list, files in the page cache',
          head: ['', 'ms', 'of `bun -e 0`'],
          rows: [
            ['start to first answer', short(ms), short(ms / median(started.bun))],
            ['`bun -e 0`', short(median(started.bun)), '1'],
          ],
        },
      ],
    };
  },
};

function startGoal(ms: number, size: number): Goal {
  const measure = `start to first answer, among ${showCount(size)}`;
  const figure = `${short(ms)} ms`;
  return { id: 'S8', measure, goal: `≤ ${withinMs} ms`, figure, met: ms <= withinMs };
}

/** A quick run is over before a heap has found its size. */
function memoryGoal({ idle, loaded }: Resident, seconds: number, quick: boolean): Goal {
  const last = loaded.at(-1) ?? Number.NaN;
  const grown = last / (loaded[Math.floor(loaded.length / 3)] ?? Number.NaN);
  const measure = `resident memory, ${seconds} s of saves: at the end / after a third`;
  const figure = `${short(grown)} (${showBytes(idle)} idle, ${showBytes(last)} at the end)`;
  return { id: 'S8', measure, goal: 'no growth', figure, met: quick ? null : grown <= growth };
}

async function measureStart({ database, folder, rounds, size }: Context) {
  const databaseUrl = `sqlite:${await database(size)}`;
  const service = await startSubject('service', folder, { databaseUrl, env: serviceEnv });
  const [path = ''] = await firstPages(service.url, size, 1);
  await service.stop();
  const env = cliEnv(folder);
  return inTurn(rounds, {
    serve: () => startOnce(databaseUrl, path, env),
    bun: () => timeCommand([process.execPath, '-e', '0'], env),
  });
}

/** How long a server takes from its start to its first answer, in ms. */
async function startOnce(databaseUrl: string, path: string, env: Record<string, string>) {
  const begun = performance.now();
  const command = memoryCommand('serve', '--port', '0', '--database', databaseUrl);
  const child = Bun.spawn(command, { env, stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' });
  try {
    const url = await addressIn(child.stderr);
    const headers = { authorization: `Bearer ${benchKey}` };
    const response = await fetch(url + path, { headers });
    await response.text();
    if (!response.ok) throw new Error(`the first answer was ${response.status}`);
    return performance.now() - begun;
  } finally {
    child.kill('SIGTERM');
    await child.exited;
  }
}

async function addressIn(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ''; ; ) {
    const { done, value = '' } = await reader.read();
    text += value;
    const [url] = /http:\/\/[\d.]+:\d+/.exec(text) ?? [];
    if (url !== undefined) return url;
    if (done) throw new Error(`the server does not start: ${text}`);
  }
}

async function measureMemory(
  { copyOf, folder, size }: Context,
  seconds: number,
): Promise<Resident> {
  const databaseUrl = `sqlite:${await copyOf(size)}`;
  const service = await startSubject('service', folder, { databaseUrl, env: serviceEnv });
  await Bun.sleep(500);
  const idle = residentBytes(service.pid);
  const loaded: number[] = [];
  const timer = setInterval(() => loaded.push(residentBytes(service.pid)), 250);
  await load({ url: service.url, connections: 64, seconds, next: saves() });
  clearInterval(timer);
  await service.stop();
  return { idle, loaded };
}
