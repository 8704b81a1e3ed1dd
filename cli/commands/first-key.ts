import { resolveBaseUrl } from '../client/connect.ts';
import { defaultProject, shownProfilePath, storeKey } from '../client/profile.ts';
import { errorText } from '../errors.ts';
import { note, ownName, type Terminal } from '../terminal/terminal.ts';
import { quoted } from '../terminal/text.ts';

/** Keeps the first key of a new database: stores it in the profile, and shows it on a terminal. */
export function createFirstKey(term: Terminal) {
  const canShow = term.stderr.isTerminal;
  let firstKey: FirstKey | null = null;
  return {
    /** Stores the key. Returns whether anybody can see it. */
    async keep(apiKey: string, url: string): Promise<boolean> {
      // A server that listens on all addresses is reached at this one.
      const baseUrl = url.replace(/\/\/(0\.0\.0\.0|\[::\]):/, '//127.0.0.1:');
      const failure = storeFirstKey(term, baseUrl, apiKey);
      firstKey = { baseUrl, apiKey, failure };
      return canShow || failure === null;
    },
    async report(url: string, database: string | undefined): Promise<void> {
      if (firstKey === null) {
        if (canShow && hasConsole(term)) await note(term, `The console is at ${url}/console`);
      } else if (canShow || firstKey.failure === null) await reportKey(term, firstKey);
      else await reportNoKey(term, firstKey.failure, database);
    },
  };
}

/** `failure` says why the key is not stored. */
type FirstKey = { baseUrl: string; apiKey: string; failure: string | null };

/** Prints the first key only on a terminal, because a redirected stderr may be kept in a log. */
function reportKey(term: Terminal, { baseUrl, apiKey, failure }: FirstKey) {
  const flag = isUsed(term, baseUrl) ? '' : ` --base-url ${baseUrl}`;
  const shown = term.stderr.isTerminal;
  const key = shown ? `once:\n  ${apiKey}` : 'on a terminal.';
  const lines = [
    '',
    `The first API key was created. It is shown only ${key}`,
    failure === null
      ? `It is stored for the CLI in ${shownProfilePath(term)}.`
      : `${failure}; to use the new key, set MEMORY_API_KEY.`,
  ];
  if (shown && hasConsole(term)) {
    const link = `${baseUrl}/console#key=${encodeURIComponent(apiKey)}`;
    lines.push('', 'To look inside, open:', `  ${link}`);
  }
  // npx finds the command only in this folder, and a new terminal may open in another folder.
  const where = ownName(term) === 'npx memory' ? ', in this folder' : '';
  // Without a model, a search compares words alone.
  const hasModel = term.env.MEMORY_EMBEDDINGS !== 'off';
  const question = hasModel ? 'what food should she avoid?' : 'peanuts';
  lines.push(
    '',
    `In another terminal${where}, try:`,
    `  memory save --user ada "Allergic to peanuts"${flag}`,
    `  memory search --user ada "${question}"${flag}`,
  );
  const header = `Authorization: Bearer ${apiKey}`;
  if (shown) lines.push(`  curl -H "${header}" "${baseUrl}/v1/memories?userId=ada"`);
  return note(term, [...lines, ''].join('\n'));
}

/** The service reads the setting, too. */
function hasConsole({ env }: Terminal): boolean {
  return env.MEMORY_CONSOLE !== 'off';
}

function reportNoKey(term: Terminal, failure: string, database: string | undefined) {
  const lines = [
    '',
    'No API key was created, because nobody could see it: stderr is not a terminal.',
    `${failure}. To create a key:`,
    `  memory keys create${database === undefined ? '' : ` --database ${quoted(database)}`}`,
    '',
  ];
  return note(term, lines.join('\n'));
}

/** Whether commands use this URL by default. An unreadable profile is reported later. */
function isUsed(term: Terminal, baseUrl: string): boolean {
  try {
    return resolveBaseUrl({ ...term, options: {} }).value === baseUrl;
  } catch {
    return false;
  }
}

/** Returns why the key is not stored, or null. Does not throw, because the server can still run. */
function storeFirstKey(term: Terminal, baseUrl: string, apiKey: string): string | null {
  try {
    const entry = { baseUrl, project: defaultProject, apiKey, firstRun: true } as const;
    return storeKey(term, entry) ? null : `Your profile contains another key for ${baseUrl}`;
  } catch (error) {
    return `The key could not be stored (${errorText(error)})`;
  }
}
