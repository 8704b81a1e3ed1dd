import { describe, expect, test } from 'bun:test';
import { type ClientName, clientNames, snippetFor } from '../../cli/commands/mcp-clients.ts';
import { createProgram } from '../../cli/program.ts';
import { tools } from '../../server/mcp/tools/tools.ts';
import { testTerminal } from '../cli/command.ts';

const page = await Bun.file('docs/mcp.md').text();
const blocks = [...page.matchAll(/^```(json|toml)\n(.*?)^```/gms)].map(([, format, text = '']) =>
  format === 'toml' ? Bun.TOML.parse(text) : JSON.parse(text),
);

describe('docs/mcp.md', () => {
  test.each(tools)('has $name with its arguments', ({ name, properties }) => {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${name}\``));
    const [, , given = ''] = row?.split('|') ?? [];
    const named = [...given.matchAll(/`(\w+)`/g)].map(([, one]) => one);
    expect(named.sort()).toEqual(Object.keys(properties).sort());
  });

  test('names the defaults', () => {
    for (const { properties } of tools) {
      for (const [name, value] of Object.entries(properties)) {
        if ('default' in value) expect(page).toContain(`\`${name}\` (${value.default})`);
      }
    }
  });

  test.each(clientNames)('shows for %s what memory mcp install writes', (client: ClientName) => {
    const entry = { command: 'memory', args: ['mcp', '--user', 'ada'] };
    const snippet = snippetFor(client, entry);
    const value = client === 'codex' ? Bun.TOML.parse(snippet) : JSON.parse(snippet);
    expect(blocks).toContainEqual(value);
  });
});

describe('server.json', () => {
  test('names this package and its version', async () => {
    const { name, version, mcpName } = await Bun.file('package.json').json();
    const server = await Bun.file('server.json').json();
    expect(server).toMatchObject({ name: mcpName, version });
    expect(server.packages).toMatchObject([{ identifier: name, version }]);
    expect(server.description.length).toBeLessThanOrEqual(100);
  });

  test('calls an existing command with existing options', async () => {
    const { packages } = await Bun.file('server.json').json();
    const [command, ...options] = packages[0].packageArguments;
    const program = await createProgram(testTerminal());
    const found = program.commands.find((one) => one.name() === command.value);
    const known = found?.options.map(({ long }) => long);
    expect(options.length).toBeGreaterThan(0);
    for (const { name } of options) expect(known).toContain(name);
    for (const { name } of packages[0].environmentVariables) {
      expect(await Bun.file('docs/operations.md').text()).toContain(`\`${name}\``);
    }
  });
});
