import type { GlobalOptions, Parent } from '../commander.ts';
import { type Origin, originOfBaseUrl, resolveApiKey, resolveBaseUrl } from '../connect.ts';
import { addExamples } from '../examples.ts';
import type { Io } from '../io.ts';
import { type Column, printJson, printResult, printTable } from '../output.ts';
import { profilePath } from '../profile.ts';

export function addProfile(program: Parent, io: Io): void {
  const group = program
    .command('profile')
    .description('Show which service and key the commands use, and why.');
  addShow(group, io);
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
  const baseUrl = resolveBaseUrl(io, options);
  const key = await resolveApiKey(io, options, baseUrl);
  const place = io.platform === 'win32' ? io.env.APPDATA : io.env.XDG_CONFIG_HOME;
  return {
    baseUrl: { value: baseUrl, from: originOfBaseUrl(io, options) },
    apiKey: { value: key ? ends(key.value) : null, from: key?.from ?? null },
    profile: { value: profilePath(io), from: place ? 'environment' : 'default' },
  };
}

/** As `keys list` shows it; of a key that is not one of ours too little is known to show more. */
function ends(key: string): string {
  return `${key.startsWith('mk_') ? key.slice(0, 7) : ''}…${key.length < 16 ? '' : key.slice(-4)}`;
}

const columns: Column<Setting & { name: string }>[] = [
  { title: 'SETTING', value: ({ name }) => name },
  { title: 'VALUE', value: ({ value }) => value ?? '', shown: ({ value }) => value ?? 'none' },
  { title: 'FROM', value: ({ from }) => from ?? '' },
];
