import type { Parent } from '../commander.ts';
import { defaultBaseUrl } from '../connect.ts';
import { defaultDatabaseUrl, shownDatabase } from '../database.ts';
import { addExamples } from '../examples.ts';
import { CliError } from '../failure.ts';
import { type Io, note } from '../io.ts';
import { given, parseWhole } from '../options.ts';
import { profileKeyOf, profilePath, storeFirstRunKey } from '../profile.ts';
import { paint } from '../text.ts';

export function addServe(program: Parent, io: Io): void {
  const command = program
    .command('serve')
    .description('Run the service until Ctrl-C.')
    .option('-p, --port <number>', 'where to listen (env: PORT, default: 7070)', parseWhole)
    .option('--host <host>', 'on which address (env: HOST, default: 127.0.0.1)')
    .option(
      '--database <url>',
      `where the data is (env: MEMORY_DATABASE_URL, default: ${defaultDatabaseUrl})`,
    );
  command.action(async () => {
    const { port, host, database } = command.opts();
    const server = await start(io, given({ port, host, databaseUrl: database }));
    try {
      await note(io, banner(io, server.url, database ?? io.env.MEMORY_DATABASE_URL));
      if (server.firstKey !== null) await tellFirstKey(io, server.url, server.firstKey);
      await untilInterrupted(io);
    } finally {
      await server.stop();
    }
    await note(io, 'Stopped.');
  });
  addExamples(command, ['memory serve', 'memory serve --port 8080 --database sqlite:./demo.db']);
}

async function start(io: Io, options: { port?: number; host?: string; databaseUrl?: string }) {
  // Loaded here so that no other command pays for it.
  const { startServer } = await import('../../server/main.ts');
  try {
    return await startServer({ env: io.env, ...options });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new CliError({ code: 'cannot_start', message });
  }
}

function banner(io: Io, url: string, database: string | undefined): string {
  return [
    `${paint(io.stderr, 'bold', 'The memory service is running')} at ${url}`,
    `Data is kept in ${shownDatabase(database || defaultDatabaseUrl)}. Stop with Ctrl-C.`,
  ].join('\n');
}

async function tellFirstKey(io: Io, url: string, apiKey: string): Promise<void> {
  const baseUrl = profileKeyOf(url);
  const stored = await storeFirstRunKey(io, baseUrl, apiKey);
  const flag = baseUrl === defaultBaseUrl ? '' : ` --base-url ${baseUrl}`;
  const kept = stored
    ? `It is kept for this command line in ${profilePath(io)}.`
    : `Your profile holds another key for ${baseUrl}; to use this one, set MEMORY_API_KEY.`;
  await note(
    io,
    [
      '',
      `A first API key was made, and is shown only this once:`,
      `  ${paint(io.stderr, 'bold', apiKey)}`,
      kept,
      '',
      'Try, in another terminal:',
      `  npx memory save --user u-1 "Prefers dark mode"${flag}`,
      `  npx memory list --user u-1${flag}`,
      `  curl -H "Authorization: Bearer ${apiKey}" "${baseUrl}/v1/memories?userId=u-1"`,
      '',
    ].join('\n'),
  );
}

async function untilInterrupted({ interrupted }: Io): Promise<void> {
  if (interrupted.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  interrupted.addEventListener('abort', () => resolve(), { once: true });
  await promise;
}
