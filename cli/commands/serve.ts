import type { Parent } from '../commander.ts';
import { resolveBaseUrl } from '../connect.ts';
import { asGiven, databaseOption, databaseUrlOf, shownDatabase } from '../database.ts';
import { serverSettingsText } from '../environment.ts';
import { addExamples } from '../examples.ts';
import { CliError, usageError } from '../failure.ts';
import { hint, type Io, note, noteStyled } from '../io.ts';
import { given, parsePort } from '../options.ts';
import { profileKeyOf, shownProfilePath, storeFirstRunKey } from '../profile.ts';
import { paint, quoted, visible } from '../text.ts';

const lastWordMs = 1_000;

export function addServe(program: Parent, io: Io): void {
  const command = program
    .command('serve')
    .description('Run the service until Ctrl-C.')
    .option('-p, --port <number>', 'where to listen (env: PORT, default: 7070)', parsePort)
    .option('--host <host>', 'on which address (env: HOST, default: 127.0.0.1)')
    .addOption(databaseOption)
    .addHelpText('after', serverSettingsText);
  command.action(async () => {
    const { port, host, database } = command.opts();
    const databaseUrl = databaseUrlOf(io, database);
    const server = await start(io, { databaseUrl, ...given({ port, host }) }, database);
    try {
      await noteStyled(io, banner(io, server.url, databaseUrl));
      const keysCreate = `memory keys create${database ? ` --database ${quoted(database)}` : ''}`;
      if (server.firstKey !== null) {
        await showFirstKey(io, server.url, server.firstKey, keysCreate);
      }
      await untilInterrupted(io);
    } finally {
      await server.stop();
    }
    // A pipe that nobody reads would keep the process for ever.
    const unread = setTimeout(() => process.exit(), lastWordMs);
    await note(io, 'Stopped.');
    clearTimeout(unread);
  });
  addExamples(command, ['memory serve', 'memory serve --port 8080 --database sqlite:./demo.db']);
}

type Given = { port?: number; host?: string; databaseUrl: string };

async function start(io: Io, options: Given, flag: string | undefined) {
  // Loaded here so that no other command pays for it.
  const { startServer } = await import('../../server/main.ts');
  try {
    return await startServer({ env: io.env, ...options });
  } catch (error) {
    throw cannotStart(error, options.databaseUrl, flag);
  }
}

function cannotStart(error: unknown, url: string, flag: string | undefined): CliError {
  const told = error instanceof Error ? error.message : String(error);
  if (told.startsWith('The settings cannot be used')) return usageError(asGiven(told, flag));
  // Of what can go wrong only files have a code of the system; those errors name no setting.
  const isFile = error instanceof Error && 'code' in error;
  const name = asGiven('MEMORY_DATABASE_URL', flag);
  const message = isFile ? `${name} sqlite:${shownDatabase(url)} cannot be opened: ${told}` : told;
  return new CliError({ code: 'cannot_start', message });
}

function banner(io: Io, url: string, database: string): string {
  return [
    `${paint(io.stderr, 'bold', 'The memory service is running')} at ${url}`,
    `Data is kept in ${visible(shownDatabase(database))}. Stop with Ctrl-C.`,
  ].join('\n');
}

/** Prints the first key on a terminal only: what else reads stderr may be a log that is kept. */
async function showFirstKey(io: Io, url: string, apiKey: string, keysCreate: string) {
  const baseUrl = profileKeyOf(url);
  const flag = (await isUsed(io, baseUrl)) ? '' : ` --base-url ${baseUrl}`;
  const stored = await storeKey(io, baseUrl, apiKey);
  const shown = io.stderr.isTerminal;
  const lines = shown
    ? ['A first API key was made, and is shown only this once:', `  ${apiKey}`, stored.message]
    : ['A first API key was made. It is shown on a terminal only.', stored.message];
  if (!shown && !stored.done) lines.push(`To make one that you can use: ${keysCreate}`);
  if (shown || stored.done) {
    lines.push('', 'Try, in another terminal:');
    lines.push(
      `  memory save --user u-1 "Prefers dark mode"${flag}`,
      `  memory list --user u-1${flag}`,
    );
  }
  const header = `Authorization: Bearer ${apiKey}`;
  if (shown) lines.push(`  curl -H "${header}" "${baseUrl}/v1/memories?userId=u-1"`);
  await hint(io, ['', ...lines, ''].join('\n'));
}

/** Whether commands reach this service without being told. */
async function isUsed(io: Io, baseUrl: string): Promise<boolean> {
  const used = await resolveBaseUrl(io, {}).catch(() => null);
  return used !== null && profileKeyOf(used.value) === baseUrl;
}

/** Never throws: the server runs on, whatever the profile is like. */
async function storeKey(io: Io, baseUrl: string, apiKey: string) {
  const otherwise = io.stderr.isTerminal ? '; to use this one, set MEMORY_API_KEY.' : '.';
  try {
    if (await storeFirstRunKey(io, baseUrl, apiKey)) {
      const path = shownProfilePath(io);
      return { done: true, message: `It is kept for this command line in ${path}.` };
    }
    const message = `Your profile holds another key for ${baseUrl}${otherwise}`;
    return { done: false, message };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { done: false, message: `It could not be kept (${why})${otherwise}` };
  }
}

async function untilInterrupted({ interrupted }: Io): Promise<void> {
  if (interrupted.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  interrupted.addEventListener('abort', () => resolve(), { once: true });
  await promise;
}
