import { dirname } from 'node:path';
import { CliError } from '../errors.ts';

/** Returns an empty text if the file does not exist. */
export async function readSettings(file: string): Promise<string> {
  const handle = Bun.file(file);
  return (await handle.exists()) ? handle.text() : '';
}

/** Replaces the file by a rename, so the client never reads a partial file. Keeps a link. */
export async function writeSettings(file: string, text: string): Promise<void> {
  const { chmod, mkdir, realpath, rename, rm, stat, writeFile } = await import('node:fs/promises');
  await mkdir(dirname(file), { recursive: true });
  const target = await realpath(file).catch(() => file);
  // The settings of other servers may contain secrets, so the file keeps its mode.
  const mode = await stat(target).then(
    (found) => found.mode & 0o777,
    () => 0o600,
  );
  const temporary = `${target}.${crypto.randomUUID()}`;
  try {
    await writeFile(temporary, text, { mode: 0o600 });
    await chmod(temporary, mode);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

export function brokenSettings(file: string, problem: string): CliError {
  return new CliError(
    'settings_unreadable',
    `${file} ${problem}. Nothing was written.`,
    'Correct it and run the command again, or add the entry shown above by hand.',
  );
}

export function invalidSettings(file: string, title: string): CliError {
  return new CliError(
    'settings_unreadable',
    `The entry cannot be added to ${file} without other changes. Nothing was written.`,
    `Add the entry shown above to the settings of ${title} by hand.`,
  );
}
