import type { Command } from '@commander-js/extra-typings';
import { version } from '../../package.json';
import type { MemoryClient, MemoryServiceError } from '../../sdk/index.ts';
import { connect, resolveApiKey, resolveBaseUrl } from '../client/connect.ts';
import { endsOfKey } from '../client/profile.ts';
import { serviceFailure } from '../client/service-errors.ts';
import { Argument, addExamples, addNotes, type GlobalOptions, type Parent } from '../commander.ts';
import { CliError, errorText, exitCodes, usageError } from '../errors.ts';
import { clientNames, openSettings, type ServerEntry, snippetFor } from '../mcp-clients/clients.ts';
import { definedOnly, userOption } from '../options.ts';
import { confirm } from '../terminal/input.ts';
import { printJson } from '../terminal/output.ts';
import { asCalled, hint, note, type Terminal } from '../terminal/terminal.ts';
import { escapeControls, quoted, shownPath } from '../terminal/text.ts';

export function addMcp(program: Parent, term: Terminal): void {
  const command = program
    .command('mcp')
    .usage('[--user <id>] [options]')
    .description("Serve a user's memories to an MCP client over stdin and stdout.")
    .addOption(userOption)
    .option('--read-only', 'offer only read-only tools')
    .helpCommand('help [command]', 'Show help for a command.')
    .addHelpText(
      'after',
      '\nAn MCP client starts this command itself.\nTo set up a client: memory mcp install',
    );
  addInstall(command, term);
  command.action(async () => {
    const options = command.optsWithGlobals();
    const client = await connect(term, options);
    const [{ serveOverStdio }, access] = await Promise.all([
      import('../../server/mcp/tools/stdio.ts'),
      accessOf(term, client, options, 'memory mcp'),
    ]);
    if (term.stdin.isTerminal) {
      await note(term, 'Waiting for an MCP client on stdin; press Ctrl-D to stop.');
      await hint(term, 'To set up a client: memory mcp install <client>');
    }
    const onError = (error: unknown) => void note(term, errorText(error));
    const onUnreachable = (error: MemoryServiceError) => noteFailure(term, options, error);
    const session = {
      ...access,
      client,
      clientFor: () => client,
      version,
      onError,
      onUnreachable,
    };
    const write = (data: Uint8Array) => term.stdout.write(data);
    const streams = { input: term.stdin.stream(), write, signal: term.interrupted };
    await serveOverStdio(session, streams);
  });
  addExamples(command, ['memory mcp --user u-1', 'memory mcp --user u-1 --read-only']);
}

type McpOptions = { user?: string | undefined; readOnly?: true | undefined };

function addInstall(group: Command<[], McpOptions, GlobalOptions>, term: Terminal): void {
  const command = group
    .command('install')
    .addArgument(new Argument('<client>', 'the MCP client').choices(clientNames))
    .usage('<client> --user <id> [options]')
    .description("Add this server to an MCP client's settings. Prints the entry first.")
    .option('--with-key', 'also write the API key to the settings')
    .option('-y, --yes', 'skip the confirmation; required if stdin is not a terminal');
  command.action(async (client) => {
    const options = command.optsWithGlobals();
    const { json, yes } = options;
    const install = `memory mcp install ${client}`;
    await accessOf(term, await connect(term, options), options, install);
    const entry = entryOf(term, options);
    if (!json) await term.stdout.write(escapeControls(snippetFor(client, withoutKey(entry))));
    const settings = await openSettings(term, client, entry);
    const { title, file, change } = settings;
    const shown = shownPath(term, file);
    const withKey = '(including the API key; only you will be able to read the file)';
    const target = entry.env === undefined ? shown : `${shown} ${withKey}`;
    if (change !== 'none') {
      const { user, readOnly, withKey } = options;
      const flags = flagsFor({ '--user': user, '--read-only': readOnly, '--with-key': withKey });
      const unasked = usageError(
        `Writing to ${target} requires --yes if stdin is not a terminal.`,
        `To skip the confirmation: ${[install, ...flags.map(quoted), '--yes'].join(' ')}`,
      );
      const place = change === 'added' ? '' : ', replacing the existing entry';
      const question = `Write this to ${target}${place}?`;
      if (!yes) await confirm(term, question, unasked, 'Nothing was written.');
      await settings.write();
    }
    if (json) return printJson(term, { client, file, change });
    if (change === 'none') return note(term, `${shown} is already up to date.`);
    await note(term, `Written to ${target}. Restart ${title} to apply the change.`);
  });
  addNotes(command, installHelp);
  addExamples(command, [
    'memory mcp install claude-code --user u-1 --yes',
    'memory mcp install codex --user u-1 --read-only --yes',
  ]);
}

const installHelp = `
Without --with-key, the key is not written to the settings: the command in the
entry reads it from the profile. To give a client a separate key:
  key=$(memory keys create --name cursor --user u-1)
  MEMORY_API_KEY=$key memory mcp install cursor --with-key`;

type InstallOptions = GlobalOptions & McpOptions & { withKey?: true | undefined };

/** Returns the entry that starts this command with the same service and key. */
function entryOf(term: Terminal, options: InstallOptions): ServerEntry {
  const { user, readOnly, withKey, project } = options;
  const baseUrl = resolveBaseUrl(term, options);
  const key = resolveApiKey(term, options, baseUrl.value);
  // The MCP client runs the command without our flags and environment.
  const without = { ...term, env: { ...term.env, MEMORY_API_KEY: undefined } };
  const kept = resolveApiKey(without, definedOnly({ project }), baseUrl.value);
  if (!withKey && kept?.value !== key?.value) {
    throw notInProfile(baseUrl.value, kept === undefined);
  }
  const isInProfile = baseUrl.from === 'profile' || baseUrl.from === 'default';
  const flags = flagsFor({
    '--user': user,
    '--read-only': readOnly,
    '--base-url': isInProfile ? undefined : baseUrl.value,
    '--project': withKey ? undefined : project,
  });
  const [command = '', ...own] = term.program;
  const env = withKey && key && { env: { MEMORY_API_KEY: key.value } };
  return { command, args: [...own, 'mcp', ...flags], ...env };
}

/** Returns the options as they are passed to the command. */
function flagsFor(options: Record<string, string | true | undefined>): string[] {
  return Object.entries(options).flatMap(([flag, value]) => {
    if (value === undefined) return [];
    return value === true ? [flag] : [flag, value];
  });
}

function notInProfile(baseUrl: string, isMissing: boolean): CliError {
  return new CliError(
    'unauthorized',
    isMissing
      ? 'The key is not in the profile, where the client would look for it.'
      : 'The profile has a different key for this service, which the client would use instead.',
    `To store it in the profile: memory profile set ${quoted(baseUrl)} -\n` +
      "To write it to the client's settings: --with-key",
    exitCodes.refused,
  );
}

/** Masks the key, because terminal output ends up in logs. */
function withoutKey({ env, ...entry }: ServerEntry): ServerEntry {
  if (env === undefined) return entry;
  return { ...entry, env: { MEMORY_API_KEY: endsOfKey(env.MEMORY_API_KEY) } };
}

/**
 * Derives the user and the write permission from the options and the key. With --user, an
 * unreachable service is logged but is not an error, because the MCP client would not restart the
 * command. The hint of a usage error shows `command`.
 */
async function accessOf(
  term: Terminal,
  client: MemoryClient,
  options: GlobalOptions & McpOptions,
  command: string,
) {
  const { user, readOnly } = options;
  const key = await client.key({ signal: term.interrupted }).catch(async (error) => {
    const isAway = error.status === undefined || error.status >= 500;
    if (user === undefined || !isAway || error.code === 'unauthorized') throw error;
    await noteFailure(term, options, error);
    return undefined;
  });
  const userId = user ?? key?.userId;
  if (userId == null) {
    throw usageError(
      'Missing --user <id>: the key is not bound to a user.',
      `For example: ${command} --user u-1`,
    );
  }
  if (key?.userId != null && key.userId !== userId) {
    throw new CliError(
      'forbidden',
      'The key is bound to another user.',
      "Omit --user, or use another key. To show the key's user: memory whoami",
      exitCodes.refused,
    );
  }
  return { userId, readOnly: readOnly === true || key?.readOnly === true };
}

/** Writes the error and its hint to stderr, which MCP clients log. Returns the text. */
async function noteFailure(term: Terminal, options: GlobalOptions, error: MemoryServiceError) {
  const { message, hint } = serviceFailure(term, error, options);
  const text = hint === null ? message : `${message} ${asCalled(term, hint)}`;
  await note(term, text);
  return text;
}
