import type { Command } from '@commander-js/extra-typings';
import { connect, resolveApiKey, resolveBaseUrl } from '../client/connect.ts';
import { endsOfKey } from '../client/profile.ts';
import { addExamples } from '../command-metadata.ts';
import { Argument, type GlobalOptions } from '../commander.ts';
import { CliError, ExitWith, exitCodes, usageError } from '../errors.ts';
import { accessOf, type McpOptions } from '../mcp-access.ts';
import { clientNames, openSettings, type Settings, snippetFor } from '../mcp-clients/clients.ts';
import type { ServerEntry } from '../mcp-clients/entry.ts';
import { printJson } from '../terminal/output.ts';
import { confirm } from '../terminal/prompt.ts';
import { note, type Terminal } from '../terminal/terminal.ts';
import { escapeControls, quoted, shownPath } from '../terminal/text.ts';

type Mcp = Command<[], McpOptions, GlobalOptions>;

export function addInstall(group: Mcp, term: Terminal): void {
  const command = group
    .command('install')
    .addArgument(new Argument('<client>', 'the MCP client').choices(clientNames))
    .usage('<client> --user <id> [options]')
    .description('Add this server to the settings of an MCP client. Prints the entry first.')
    .option('--with-key', 'also write the API key into the settings')
    .option('-y, --yes', 'skip the confirmation; required if stdin is not a terminal')
    .addHelpText('after', help);
  command.action(async (client) => {
    const options = command.optsWithGlobals();
    const { json, yes } = options;
    const install = `memory mcp install ${client}`;
    await accessOf(term, await connect(term, options), options, install);
    const entry = await entryOf(term, options);
    if (!json) await term.stdout.write(escapeControls(snippetFor(client, withoutKey(entry))));
    const settings = await openSettings(term, client, entry);
    const { title, file, change } = settings;
    if (change !== 'none') {
      if (!yes) await askFirst(term, settings, entry, `${install}${shownFlags(options)} --yes`);
      await settings.write();
    }
    if (json) return printJson(term, { client, file, change });
    if (change === 'none') return note(term, `${shownPath(term, file)} is already up to date.`);
    const key = entry.env === undefined ? '' : ' (including the API key)';
    await note(term, `Written to ${shownPath(term, file)}${key}. Restart ${title} to apply it.`);
  });
  addExamples(command, [
    'memory mcp install claude-code --user u-1 --yes',
    'memory mcp install codex --user u-1 --read-only --yes',
  ]);
}

const help = `
The key is not written to the settings without --with-key: like every other
command, this one reads it from the profile. To give a client a separate key:
  key=$(memory keys create --name cursor --user u-1)
  MEMORY_API_KEY=$key memory mcp install cursor --with-key`;

type Options = GlobalOptions & McpOptions & { withKey?: true | undefined };

/** Returns how the client must start this command to use the same service and key. */
async function entryOf(term: Terminal, options: Options): Promise<ServerEntry> {
  const { user, readOnly, withKey, project } = options;
  const baseUrl = await resolveBaseUrl(term, options);
  const isOwn = baseUrl.from === 'flag' || baseUrl.from === 'environment';
  const key = await resolveApiKey(term, options, baseUrl.value);
  const kept = await keyInProfile(term, options, baseUrl.value);
  if (!withKey && (kept === undefined || kept !== key?.value)) {
    throw notInProfile(baseUrl.value, kept === undefined);
  }
  const [command = '', ...own] = term.program;
  const args = [
    ...own,
    'mcp',
    ...(user === undefined ? [] : ['--user', user]),
    ...(readOnly ? ['--read-only'] : []),
    ...(isOwn ? ['--base-url', baseUrl.value] : []),
    ...(project === undefined || withKey ? [] : ['--project', project]),
  ];
  return { command, args, ...(withKey && key && { env: { MEMORY_API_KEY: key.value } }) };
}

/** Returns the key in the profile. The client will not have our flags and environment. */
async function keyInProfile(term: Terminal, { project }: Options, baseUrl: string) {
  const without = { ...term, env: { ...term.env, MEMORY_API_KEY: undefined } };
  const key = await resolveApiKey(without, project === undefined ? {} : { project }, baseUrl);
  return key?.value;
}

function notInProfile(baseUrl: string, isMissing: boolean): CliError {
  return new CliError(
    'unauthorized',
    isMissing
      ? 'The key is not in the profile, where the client would look for it.'
      : 'The profile has a different key for this service, which the client would use instead.',
    `To store it in the profile: memory profile set ${quoted(baseUrl)} -\n` +
      'To write it to the settings of the client: --with-key',
    exitCodes.refused,
  );
}

/** Masks the key, because terminal output ends up in logs. */
function withoutKey({ env, ...entry }: ServerEntry): ServerEntry {
  if (env === undefined) return entry;
  return { ...entry, env: { MEMORY_API_KEY: endsOfKey(env.MEMORY_API_KEY) } };
}

function shownFlags({ user, readOnly, withKey }: Options): string {
  const flags = [
    ...(user === undefined ? [] : ['--user', quoted(user)]),
    ...(readOnly ? ['--read-only'] : []),
    ...(withKey ? ['--with-key'] : []),
  ];
  return flags.map((flag) => ` ${flag}`).join('');
}

async function askFirst(
  term: Terminal,
  { file, change }: Settings,
  { env }: ServerEntry,
  withYes: string,
): Promise<void> {
  const key = env === undefined ? '' : ' (including the API key)';
  const shown = shownPath(term, file);
  if (!term.stdin.isTerminal || !term.stderr.isTerminal) {
    throw usageError(
      `Writing to ${shown}${key} requires --yes if stdin is not a terminal.`,
      `To skip the confirmation: ${withYes}`,
    );
  }
  const place = change === 'added' ? '' : ', replacing the existing entry';
  if (await confirm(term, `Write this to ${shown}${key}${place}?`)) return;
  await note(term, 'Nothing was written.');
  throw new ExitWith(exitCodes.failed);
}
