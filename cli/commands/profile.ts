import { parseBaseUrl, resolveApiKey, resolveBaseUrl } from '../client/connect.ts';
import * as profile from '../client/profile.ts';
import { addHelp, type Parent } from '../commander.ts';
import { CliError, exitCodes, usageError } from '../errors.ts';
import { readSecret } from '../terminal/input.ts';
import { type Column, printJson, printResult, printTable } from '../terminal/output.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function addProfile(program: Parent, term: Terminal): void {
  const group = program
    .command('profile')
    .description('Store API keys, and choose the service and key that commands use.');
  for (const add of [addShow, addSet, addUse]) add(group, term);
}

function addShow(group: Parent, term: Terminal): void {
  const command = group
    .command('show')
    .description('Show each setting with its source, and the stored keys, masked.');
  command.action(async () => {
    const settings = settingsOf(term);
    const stored = profile.storedKeys(term);
    if (term.options.json) return printJson(term, { ...settings, stored });
    const rows: Setting[] = Object.entries(settings).map(([name, one]) => ({ name, ...one }));
    for (const { baseUrl, project, apiKey } of stored) {
      rows.push({ name: 'stored', value: `${baseUrl}  ${project}  ${apiKey}`, from: 'profile' });
    }
    await printTable(term, settingColumns, rows);
  });
  const help =
    '\nFlags override the environment, and the environment overrides the profile.' +
    '\nTo remove a stored key, delete it from the profile, a JSON file.';
  addHelp(command, help, ['memory profile show']);
}

type Setting = { name: string; value: string | null; from: string | null };

function settingsOf(term: Terminal) {
  const baseUrl = resolveBaseUrl(term);
  const key = resolveApiKey(term, baseUrl.value);
  const project = key?.project ?? null;
  const projectFrom = term.options.project === undefined ? 'profile' : 'flag';
  const apiKey = key === undefined ? null : profile.endsOfKey(key.value);
  return {
    baseUrl: { value: baseUrl.value, from: baseUrl.from },
    // Only the profile says which project a key belongs to.
    project: { value: project, from: project === null ? null : projectFrom },
    apiKey: { value: apiKey, from: key?.from ?? null },
    profile: { value: profile.shownProfilePath(term), from: null },
  };
}

const settingColumns: Column<Setting>[] = [
  { title: 'SETTING', value: ({ name }) => name },
  { title: 'VALUE', value: ({ value }) => value ?? '', shown: (value) => value || 'not set' },
  { title: 'FROM', value: ({ from }) => from ?? '' },
];

const url = 'the URL of the service';

function addSet(group: Parent, term: Terminal): void {
  const command = group
    .command('set')
    .argument('<base-url>', url)
    .argument('[-]', 'read the key from stdin (default: --api-key or MEMORY_API_KEY)')
    .description("Store a service's key in a file that only you can read.");
  command.action(async (address, stdin) => {
    const { apiKey: flag, project = profile.defaultProject } = term.options;
    const baseUrl = parseBaseUrl(address, '<base-url>');
    const apiKey = await readKey(term, stdin, flag);
    profile.storeKey(term, { baseUrl, project, apiKey });
    const shown = profile.endsOfKey(apiKey);
    const more = project === profile.defaultProject ? '' : ` --project ${project}`;
    const stored = `Stored the key ${shown} in ${profile.shownProfilePath(term)}.`;
    const next = `To use it by default: memory profile use ${baseUrl}${more}`;
    await printResult(term, { baseUrl, project, apiKey: shown }, null, stored, next);
  });
  const help = "\nPrefer stdin or MEMORY_API_KEY: arguments are kept in the shell's history.";
  addHelp(command, help, [
    'memory profile set https://memory.example - < key.txt',
    'memory profile set https://memory.example - --project shop < key.txt',
  ]);
}

function addUse(group: Parent, term: Terminal): void {
  const command = group
    .command('use')
    .argument('<base-url>', url)
    .description('Make this service the default for all commands.');
  command.action(async (address) => {
    const { project = profile.defaultProject } = term.options;
    const baseUrl = parseBaseUrl(address, '<base-url>');
    const { keys } = profile.readProfile(term);
    if (keys[profile.entryName(baseUrl, project)] === undefined) {
      const message = `No key is stored for project ${project} of ${baseUrl}.`;
      const hint = `To store one: memory profile set ${baseUrl} - --project ${project}`;
      throw new CliError('not_found', message, hint, exitCodes.notFound);
    }
    profile.useService(term, baseUrl, project);
    const now = `Commands now use project ${project} of ${baseUrl}.`;
    const overrides = profile.overridesOf(term);
    await printResult(term, { baseUrl, project }, null, now, ...overrides);
  });
  addHelp(command, '', ['memory profile use https://memory.example']);
}

/** The format of the keys that a service accepts. */
const keyPattern = /^[\x21-\x7e]{16,256}$/;

/** The errors do not repeat the key, because terminal output ends up in logs. */
async function readKey(term: Terminal, stdin: string | undefined, flag: string | undefined) {
  if (stdin !== undefined && stdin !== '-') {
    throw usageError('A key cannot be passed as an argument: pass - to read it from stdin.');
  }
  const question = 'API key (not shown): ';
  const text = stdin === '-' ? await readSecret(term, question) : (flag ?? term.env.MEMORY_API_KEY);
  const apiKey = text?.trim() ?? '';
  if (keyPattern.test(apiKey)) return apiKey;
  const where = 'in MEMORY_API_KEY or, with -, on stdin';
  if (apiKey === '') throw usageError(`Missing key: pass it ${where}.`);
  throw usageError(`The key must be 16 to 256 visible ASCII characters, ${where}.`);
}
