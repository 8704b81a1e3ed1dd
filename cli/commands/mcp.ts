import { version } from '../../package.json';
import type { MemoryServiceError } from '../../sdk/index.ts';
import { connect } from '../client/connect.ts';
import { addExamples } from '../command-metadata.ts';
import type { Parent } from '../commander.ts';
import { accessOf, mcpUserOption, noteFailure, readOnlyOption } from '../mcp-access.ts';
import { hint, note, type Terminal } from '../terminal/terminal.ts';
import { addInstall } from './mcp-install.ts';

export function addMcp(program: Parent, term: Terminal): void {
  const command = program
    .command('mcp')
    .usage('[--user <id>] [options]')
    .description('Serve the memories of a user to an MCP client over stdin and stdout.')
    .addOption(mcpUserOption)
    .addOption(readOnlyOption)
    .helpCommand('help [command]', 'Show help for a command.')
    .addHelpText(
      'after',
      '\nAn MCP client starts this command itself. To set one up: memory mcp install',
    );
  addInstall(command, term);
  command.action(async () => {
    const options = command.optsWithGlobals();
    const client = await connect(term, options);
    const [{ serveOverStdio }, access] = await Promise.all([
      import('../../server/mcp/tools/stdio.ts'),
      accessOf(term, client, options, 'memory mcp'),
    ]);
    if (term.stdin.isTerminal) await greet(term);
    const onError = (error: unknown) => void note(term, textOf(error));
    const onUnreachable = (error: MemoryServiceError) => noteFailure(term, options, error);
    await serveOverStdio(
      { ...access, client, version, onError, onUnreachable },
      {
        input: term.stdin.stream(),
        write: (data) => term.stdout.write(data),
        signal: term.interrupted,
      },
    );
  });
  addExamples(command, ['memory mcp --user u-1', 'memory mcp --user u-1 --read-only']);
}

async function greet(term: Terminal): Promise<void> {
  await note(term, 'Waiting for an MCP client on stdin; press Ctrl-D to stop.');
  await hint(term, 'To set up a client: memory mcp install <client>');
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
