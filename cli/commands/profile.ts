import { type Origin, resolveApiKey, resolveBaseUrl } from '../client/connect.ts';
import { endsOfKey } from '../client/profile.ts';
import { profilePath } from '../client/profile-file.ts';
import { addExamples } from '../command-metadata.ts';
import type { GlobalOptions, Parent } from '../commander.ts';
import { type Column, printJson, printResult, printTable } from '../terminal/output.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { addProfileList, addRemove, addSet, addUse } from './profile-services.ts';

export function addProfile(program: Parent, term: Terminal): void {
  const group = program
    .command('profile')
    .description('Show and choose the service and key that commands use.')
    .helpCommand('help [command]', 'Show help for a command.');
  addShow(group, term);
  addProfileList(group, term);
  addSet(group, term);
  addUse(group, term);
  addRemove(group, term);
  addPath(group, term);
}

function addShow(group: Parent, term: Terminal): void {
  const command = group
    .command('show')
    .description('Show each setting and its source; the key is masked.')
    .addHelpText(
      'after',
      '\nFlags override the environment, and the environment overrides the profile.',
    );
  command.action(async () => {
    const options = command.optsWithGlobals();
    const settings = await settingsOf(term, options);
    if (options.json) return printJson(term, settings);
    const rows = Object.entries(settings).map(([name, setting]) => ({ name, ...setting }));
    await printTable(term, columns, rows);
  });
  addExamples(command, ['memory profile show']);
}

function addPath(group: Parent, term: Terminal): void {
  const command = group.command('path').description('Print the path of the profile.');
  command.action(async () => {
    const path = profilePath(term);
    await printResult(term, command.optsWithGlobals().json, { path }, path);
  });
  addExamples(command, ['memory profile path']);
}

type Setting = { value: string | null; from: Origin | null };

async function settingsOf(
  term: Terminal,
  options: GlobalOptions,
): Promise<Record<string, Setting>> {
  const baseUrl = await resolveBaseUrl(term, options);
  const key = await resolveApiKey(term, options, baseUrl.value);
  const { project = null } = key ?? {};
  const projectFrom = options.project === undefined ? 'profile' : 'flag';
  const place = term.platform === 'win32' ? term.env.APPDATA : term.env.XDG_CONFIG_HOME;
  return {
    baseUrl,
    apiKey: { value: key ? endsOfKey(key.value) : null, from: key?.from ?? null },
    project: { value: project, from: project === null ? null : projectFrom },
    profile: { value: profilePath(term), from: place ? 'environment' : 'default' },
  };
}

const columns: Column<Setting & { name: string }>[] = [
  { title: 'SETTING', value: ({ name }) => name },
  { title: 'VALUE', value: ({ value }) => value ?? '', shown: (value) => value || 'none' },
  { title: 'FROM', value: ({ from }) => from ?? '' },
];
