import type { GlobalOptions, Parent } from '../commander.ts';
import { type Origin, resolveApiKey, resolveBaseUrl } from '../connect.ts';
import { addExamples } from '../examples.ts';
import type { Io } from '../io.ts';
import { type Column, printJson, printResult, printTable } from '../output.ts';
import { endsOfKey, profilePath } from '../profile.ts';
import { addProfileList, addRemove, addSet, addUse } from './profile-services.ts';

export function addProfile(program: Parent, io: Io): void {
  const group = program
    .command('profile')
    .description('Show and choose which service and key the commands use.')
    .helpCommand('help [command]', 'Show the help of a command.');
  addShow(group, io);
  addProfileList(group, io);
  addSet(group, io);
  addUse(group, io);
  addRemove(group, io);
  addPath(group, io);
}

function addShow(group: Parent, io: Io): void {
  const command = group
    .command('show')
    .description('Show each setting and where it came from; of the key only its ends.')
    .addHelpText(
      'after',
      '\nA flag wins over the environment, that over the profile, that over defaults.',
    );
  command.action(async () => {
    const options = command.optsWithGlobals();
    const settings = await settingsOf(io, options);
    if (options.json) return printJson(io, settings);
    const rows = Object.entries(settings).map(([name, setting]) => ({ name, ...setting }));
    await printTable(io, columns, rows);
  });
  addExamples(command, ['memory profile show']);
}

function addPath(group: Parent, io: Io): void {
  const command = group.command('path').description('Print where the profile is.');
  command.action(async () => {
    const path = profilePath(io);
    await printResult(io, command.optsWithGlobals().json, { path }, path);
  });
  addExamples(command, ['memory profile path']);
}

type Setting = { value: string | null; from: Origin | null };

async function settingsOf(io: Io, options: GlobalOptions): Promise<Record<string, Setting>> {
  const baseUrl = await resolveBaseUrl(io, options);
  const key = await resolveApiKey(io, options, baseUrl.value);
  const place = io.platform === 'win32' ? io.env.APPDATA : io.env.XDG_CONFIG_HOME;
  return {
    baseUrl,
    apiKey: { value: key ? endsOfKey(key.value) : null, from: key?.from ?? null },
    project: { value: key?.project ?? null, from: key?.project ? projectFrom(options) : null },
    profile: { value: profilePath(io), from: place ? 'environment' : 'default' },
  };
}

function projectFrom({ project }: GlobalOptions): Origin {
  return project === undefined ? 'profile' : 'flag';
}

const columns: Column<Setting & { name: string }>[] = [
  { title: 'SETTING', value: ({ name }) => name },
  { title: 'VALUE', value: ({ value }) => value ?? '', shown: ({ value }) => value ?? 'none' },
  { title: 'FROM', value: ({ from }) => from ?? '' },
];
