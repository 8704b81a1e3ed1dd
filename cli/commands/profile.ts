import {
  defaultBaseUrl,
  type Origin,
  parseBaseUrl,
  resolveApiKey,
  resolveBaseUrl,
} from '../client/connect.ts';
import * as profile from '../client/profile.ts';
import { addExamples, addNotes, type GlobalOptions, type Parent } from '../commander.ts';
import { CliError, exitCodes, usageError } from '../errors.ts';
import { definedOnly } from '../options.ts';
import { readSecret } from '../terminal/input.ts';
import { type Column, printJson, printResult, printTable } from '../terminal/output.ts';
import { hint, note, type Terminal } from '../terminal/terminal.ts';

export function addProfile(program: Parent, term: Terminal): void {
  const group = program
    .command('profile')
    .description('Show and choose the service and key that commands use.')
    .helpCommand('help [command]', 'Show help for a command.');
  for (const add of [addShow, addList, addSet, addUse, addRemove, addPath]) add(group, term);
}

function addShow(group: Parent, term: Terminal): void {
  const command = group
    .command('show')
    .description('Show each setting and its source; the key is masked.');
  command.action(async () => {
    const options = command.optsWithGlobals();
    const settings = settingsOf(term, options);
    if (options.json) return printJson(term, settings);
    const rows = Object.entries(settings).map(([name, setting]) => ({ name, ...setting }));
    await printTable(term, settingColumns, rows);
  });
  addNotes(command, '\nFlags override the environment, and the environment overrides the profile.');
  addExamples(command, ['memory profile show']);
}

function addPath(group: Parent, term: Terminal): void {
  const command = group.command('path').description('Print the path of the profile.');
  command.action(async () => {
    const path = profile.profilePath(term);
    await printResult(term, command.optsWithGlobals().json, { path }, path);
  });
  addExamples(command, ['memory profile path']);
}

type Setting = { value: string | null; from: Origin | null };
const unset: Setting = { value: null, from: null };

function settingsOf(term: Terminal, options: GlobalOptions) {
  const baseUrl = resolveBaseUrl(term, options);
  const key = resolveApiKey(term, options, baseUrl.value);
  const project = key?.project;
  const projectFrom = options.project === undefined ? 'profile' : 'flag';
  const place = term.platform === 'win32' ? term.env.APPDATA : term.env.XDG_CONFIG_HOME;
  return {
    baseUrl,
    apiKey: key ? { value: profile.endsOfKey(key.value), from: key.from } : unset,
    project: project ? { value: project, from: projectFrom } : unset,
    profile: { value: profile.profilePath(term), from: place ? 'environment' : 'default' },
  };
}

const settingColumns: Column<Setting & { name: string }>[] = [
  { title: 'SETTING', value: ({ name }) => name },
  { title: 'VALUE', value: ({ value }) => value ?? '', shown: (value) => value || 'none' },
  { title: 'FROM', value: ({ from }) => from ?? '' },
];

/* Manages the services in the profile. A service is identified by its URL. */

const url = 'the base URL of the service';

function addSet(group: Parent, term: Terminal): void {
  const command = group
    .command('set')
    .argument('<base-url>', url)
    .argument('[-]', 'read the key from stdin (default: --api-key or MEMORY_API_KEY)')
    .description("Store a service's key in a file that only you can read.");
  command.action(async (address, stdin) => {
    const { json, apiKey: flag, project = profile.defaultProject } = command.optsWithGlobals();
    const service = profile.serviceName(parseBaseUrl(address, '<base-url>'));
    const apiKey = await readKey(term, stdin, flag);
    await profile.storeOwnKey(term, { service, project, apiKey }, json);
    if (json)
      return printJson(term, { baseUrl: service, project, apiKey: profile.endsOfKey(apiKey) });
    const isOther = profile.projectOf(profile.readProfile(term), service) !== project;
    const { value: used } = resolveBaseUrl(term, {});
    if (!isOther && profile.serviceName(used) === service) return;
    const more = isOther ? ` --project ${project}` : '';
    await hint(term, `To use this service by default: memory profile use ${service}${more}`);
  });
  addNotes(command, "\nPrefer stdin or MEMORY_API_KEY: arguments are kept in the shell's history.");
  addExamples(command, [
    'memory profile set https://memory.example - < key.txt',
    'memory profile set https://memory.example - --project shop < key.txt',
    'MEMORY_API_KEY=mk_0199c2a4f1e87c3d memory profile set https://m.example',
  ]);
}

function addUse(group: Parent, term: Terminal): void {
  const command = group
    .command('use')
    .argument('<base-url>', url)
    .description('Make this service the default for all commands.');
  command.action(async (address) => {
    const { json, project: flag } = command.optsWithGlobals();
    const service = knownService(term, address);
    await profile.useService(term, service);
    if (flag !== undefined) await profile.useProject(term, service, flag);
    const project = profile.projectOf(profile.readProfile(term), service);
    if (json) return printJson(term, { baseUrl: service, project });
    const isNamed = project !== profile.defaultProject;
    const named = isNamed ? `project ${project} of ${service}` : service;
    await note(term, `Commands now use ${named}.`);
    if (term.env.MEMORY_BASE_URL)
      await note(term, 'MEMORY_BASE_URL is set and overrides the profile.');
    if (resolveApiKey(term, {}, service) !== undefined) return;
    const set = `memory profile set ${service} -${isNamed ? ` --project ${project}` : ''}`;
    await hint(term, `No key is stored for ${named}. To store one: ${set}`);
  });
  addExamples(command, ['memory profile use https://memory.example']);
}

function addRemove(group: Parent, term: Terminal): void {
  const command = group
    .command('remove')
    .argument('<base-url>', url)
    .description(
      "Remove a service and its keys from the profile or, with --project, only the project's key." +
        ' Removed keys stay valid.',
    );
  command.action(async (address) => {
    const { json, project } = command.optsWithGlobals();
    const service = knownService(term, address);
    const named = project === undefined ? service : `${service}, project ${project}`;
    if (!(await profile.removeService(term, service, project))) {
      const message = `The profile does not contain ${named}.`;
      const hint = 'To list its services: memory profile list';
      throw new CliError('not_found', message, hint, exitCodes.notFound);
    }
    if (!json) return note(term, `Removed ${named}.`);
    await printJson(term, { baseUrl: service, ...definedOnly({ project }), removed: true });
  });
  addExamples(command, ['memory profile remove https://memory.example']);
}

function addList(group: Parent, term: Terminal): void {
  const command = group
    .command('list')
    .description('List the services in the profile and mark the one in use.');
  command.action(async () => {
    const options = command.optsWithGlobals();
    const items = servicesOf(term, options);
    if (options.json) return printJson(term, { items });
    await printTable(term, serviceColumns, items);
    if (items.length > 0) return;
    await hint(term, 'No services yet. To add one: memory profile set <base-url> -');
  });
  addExamples(command, ['memory profile list']);
}

type Service = { baseUrl: string; project: string; apiKey: string | null; used: boolean };

function servicesOf(term: Terminal, options: GlobalOptions): Service[] {
  const used = profile.serviceName(resolveBaseUrl(term, options).value);
  const stored = profile.readProfile(term);
  const usedProject = options.project ?? profile.projectOf(stored, used);
  const entries: { service: string; project: string; apiKey?: string }[] =
    profile.entriesOf(stored);
  const { baseUrl: chosen } = stored;
  const isKeyless = chosen !== undefined && !entries.some(({ service }) => service === chosen);
  if (isKeyless) entries.push({ service: chosen, project: profile.defaultProject });
  return entries
    .map(({ service, project, apiKey }) => ({
      baseUrl: service,
      project,
      apiKey: apiKey === undefined ? null : profile.endsOfKey(apiKey),
      used: service === used && project === usedProject,
    }))
    .sort((a, b) => (`${a.baseUrl}#${a.project}` < `${b.baseUrl}#${b.project}` ? -1 : 1));
}

const serviceColumns: Column<Service>[] = [
  { title: 'BASE URL', value: ({ baseUrl }) => baseUrl },
  { title: 'PROJECT', value: ({ project }) => project, usual: profile.defaultProject },
  { title: 'KEY', value: ({ apiKey }) => apiKey ?? '', shown: (key) => key || 'none' },
  { title: 'USED', value: ({ used }) => (used ? 'used' : '') },
];

/**
 * Parses the URL of a service. For any other string, the error lists the services in the profile.
 */
function knownService(term: Terminal, text: string): string {
  const entries = profile.entriesOf(profile.readProfile(term));
  const known = new Set(entries.map(({ service }) => service));
  const hint =
    known.size === 0
      ? `For example: ${defaultBaseUrl}. The profile has no services yet.`
      : `A service is identified by its URL. The profile contains ${[...known].join(', ')}`;
  return profile.serviceName(parseBaseUrl(text, '<base-url>', hint));
}

/** The format of the keys that a service accepts. */
const keyPattern = /^[\x21-\x7e]{16,256}$/;

async function readKey(term: Terminal, stdin: string | undefined, flag: string | undefined) {
  // The error does not repeat the key, because terminal output ends up in logs.
  if (stdin !== undefined && stdin !== '-') {
    throw usageError('A key cannot be passed as an argument: pass - to read it from stdin.');
  }
  if (stdin === '-' && flag !== undefined) {
    throw usageError('Pass the key on stdin with -, or with --api-key, not both.');
  }
  const question = 'API key (not shown): ';
  const text = stdin === '-' ? await readSecret(term, question) : (flag ?? term.env.MEMORY_API_KEY);
  const apiKey = text?.trim() ?? '';
  if (apiKey === '')
    throw usageError('Missing key: set MEMORY_API_KEY, or pass - to read it from stdin.');
  if (keyPattern.test(apiKey)) return apiKey;
  throw usageError('Invalid key: it must be 16 to 256 visible ASCII characters.');
}
