import { expect, test } from 'bun:test';
import { events, withMemory } from './command.ts';
import { foldersFor } from './folder.ts';
import { statusProxy } from './service.ts';

const { server, memory } = await withMemory();

test.each<[string, string, number, NodeJS.Signals, RegExp]>([
  ['ingest batch - --json', events('many', 20), 20, 'SIGINT', /"code":"interrupted"/],
  ['ingest record -', `${events('two', 2)}\n{`, 2, 'SIGTERM', /^$/],
  ['ingest document --user docs .', '', 2, 'SIGINT', /^(mem_\w+\t\w\.md\n){2}$/],
  ['ingest document --user one - --json', 'text', 1, 'SIGTERM', /"code":"interrupted"/],
  ['ingest document --user plain -', 'text', 1, 'SIGINT', /^mem_\w+\n$/],
])(
  'an interrupted "%s --wait" says how to continue',
  async (line, stdin, count, signal, stdout) => {
    const interruption = new AbortController();
    await using proxy = statusProxy(server, () => {
      interruption.abort(signal);
      return { status: 'processing' };
    });
    using folder = foldersFor(memory)('docs', { 'a.md': 'a', 'b.md': 'b' });
    const around = { env: proxy.env, cwd: folder.path, interrupted: interruption.signal };
    const ran = await memory([...line.split(' '), '--wait'], { ...around, stdin });
    expect(ran.code).toBe(signal === 'SIGINT' ? 130 : 143);
    expect(ran.stdout).toMatch(stdout);
    const ids = `memory wait( mem_\\w+){${count}}\n`;
    expect(ran.stderr).toMatch(
      new RegExp(`^Still processing: ${count} memor.*\\. Nothing is lost\\. .*${ids}`, 'm'),
    );
    for (const [id] of ran.stdout.matchAll(/mem_\w+/g)) expect(ran.stderr).toContain(` ${id}`);
    expect(ran.stderr.endsWith('Error: Interrupted.\n')).toBe(!line.endsWith('--json'));
  },
);
