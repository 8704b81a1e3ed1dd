import { once } from 'node:events';
import { addHelp, type Parent } from '../commander.ts';
import { databaseFailure, databaseOption, databaseUrlOf, shownDatabase } from '../database.ts';
import { definedOnly, numberIn } from '../options.ts';
import { note, noteStyled, type Terminal } from '../terminal/terminal.ts';
import { escapeControls, paint } from '../terminal/text.ts';
import { createFirstKey } from './first-key.ts';

const parsePort = numberIn([0, 65_535], 'a port number, 0 to 65535');

export function addServe(program: Parent, term: Terminal): void {
  const command = program
    .command('serve')
    .description('Run the service until Ctrl-C.')
    .option('-p, --port <number>', 'the port to listen on (env: PORT, default: 7070)', parsePort)
    .option('--host <host>', 'the address to listen on (env: HOST, default: 127.0.0.1)')
    .addOption(databaseOption);
  command.action(async () => {
    const { port, host, database } = command.opts();
    const databaseUrl = databaseUrlOf(term, database);
    const firstKey = createFirstKey(term);
    // Imported on demand, to keep other commands fast.
    const { startServer } = await import('../../server/main.ts');
    const settings = { env: term.env, databaseUrl, ...definedOnly({ port, host }) };
    const options = { ...settings, keepFirstKey: firstKey.keep, onFatal: 'exit' } as const;
    const server = await startServer(options).catch((error) => {
      throw databaseFailure(error, 'cannot_start');
    });
    async function announce(): Promise<void> {
      await noteStyled(term, banner(term, server.url, databaseUrl));
      await firstKey.report(server.url, database);
    }
    try {
      const interrupted = term.interrupted.aborted || once(term.interrupted, 'abort');
      // The first words, too, may wait for a reader.
      await Promise.race([interrupted, announce()]);
      await interrupted;
    } finally {
      await server.stop();
    }
    // Does not wait for a reader, and nor does the process.
    void note(term, 'Stopped.');
  });
  const help = ['\nSet by environment variables only:', ...settings].join('\n');
  addHelp(command, help, ['memory serve', 'memory serve --port 8080 --database sqlite:./demo.db']);
}

/** The settings that the server reads only from the environment. A test checks the list. */
const settings = [
  ['MEMORY_MAX_BODY_BYTES', 'the largest body, in bytes (default: 5242880)'],
  ['MEMORY_RATE_LIMIT', 'limit as requests/seconds, or off (default: 6000/60)'],
  ['MEMORY_CORS_ORIGINS', 'the allowed CORS origins, comma-separated'],
  ['MEMORY_MCP_HOSTS', 'additional host names for /mcp, comma-separated'],
  ['MEMORY_EMBEDDINGS', 'search model: local, off or a URL (default: local)'],
  ['MEMORY_EMBEDDINGS_MODEL', 'the model at the URL'],
  ['MEMORY_EMBEDDINGS_KEY', 'the API key for the URL'],
  ['MEMORY_METRICS', 'whether /metrics exists: on or off (default: on)'],
  ['MEMORY_TRUSTED_PROXIES', 'proxies that name the client, comma-separated'],
  ['MEMORY_CONSOLE', 'the pages /console and /docs: on or off (default: on)'],
  ['LOG_LEVEL', 'debug, info, warn, error or silent (default: info)'],
].map(([name = '', description]) => `  ${name.padEnd(23)}  ${description}`);

function banner(term: Terminal, url: string, database: string): string {
  const running = paint(term.stderr, 'bold', 'The memory service is running');
  const stored = escapeControls(shownDatabase(term, database));
  return `${running} at ${url}\nData is stored in ${stored}.\nPress Ctrl-C to stop.`;
}
