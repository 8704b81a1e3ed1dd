import { posix } from 'node:path';
import type { MemoryToolHandlers } from '@anthropic-ai/sdk/helpers/beta/memory';
import type { Memory, MemoryClient } from 'memory-service-sdk';

type Given<Name extends keyof MemoryToolHandlers> = Parameters<MemoryToolHandlers[Name]>[0];
type Kept = Partial<Pick<Memory, 'metadata' | 'occurredAt' | 'expiresAt'>>;

const root = '/memories';
const hint = '. Please provide a valid path.';

/**
 * The handlers of Claude's memory tool, for `betaMemoryTool`, with the results of Anthropic's
 * `BetaLocalFilesystemMemoryTool`. A file is a memory of the user. Its path is the external id, and
 * its text the content without the last newline.
 */
export class MemoryFiles implements MemoryToolHandlers {
  readonly #client: MemoryClient;
  readonly #owner: { userId: string; source: string };

  constructor(
    client: MemoryClient,
    { userId, source = 'claude' }: { userId: string; source?: string | undefined },
  ) {
    this.#client = client;
    this.#owner = { userId, source };
  }

  async view({ path: given, view_range }: Given<'view'>): Promise<string> {
    const files = await this.#existing(given, hint);
    const file = files.get(checked(given));
    if (file !== undefined) {
      const lines = numbered(textOf(file), view_range);
      return `Here's the content of ${given} with line numbers:\n${lines}`;
    }
    const hidden = 'excluding hidden items and node_modules';
    const header = `Here're the files and directories up to 2 levels deep in ${given}, ${hidden}:`;
    return [header, ...listing(given, files)].join('\n');
  }

  async create({ path: given, file_text }: Given<'create'>): Promise<string> {
    await this.#requireUnused(given, `File ${given} already exists`);
    await this.#save(checked(given), required(file_text, 'file_text'));
    return `File created successfully at: ${given}`;
  }

  async str_replace({ path, old_str, new_str }: Given<'str_replace'>): Promise<string> {
    const file = await this.#file(path);
    const text = textOf(file);
    const lines = linesWith(text, old_str);
    const [line] = lines;
    const failure = 'No replacement was performed';
    if (line === undefined) {
      const message = `${failure}, old_str \`${old_str}\` did not appear verbatim in ${path}.`;
      throw new Error(message);
    }
    if (lines.length > 1) {
      const where = `in lines: ${lines.join(', ')}. Please ensure it is unique`;
      throw new Error(`${failure}. Multiple occurrences of old_str \`${old_str}\` ${where}`);
    }
    const changed = text.replace(old_str, () => required(new_str, 'new_str'));
    await this.#edit(file, changed);
    const message = 'The memory file has been edited. Here is the snippet showing the change';
    return `${message} (with line numbers):\n${numbered(changed, [line - 2, line + 2])}`;
  }

  async insert({ path, insert_line: at, insert_text }: Given<'insert'>): Promise<string> {
    const file = await this.#file(path);
    const lines = textOf(file).split('\n');
    if (at < 0 || at > lines.length) {
      const range = `within the range of lines of the file: [0, ${lines.length}]`;
      throw new Error(`Invalid \`insert_line\` parameter: ${at}. It should be ${range}`);
    }
    lines.splice(at, 0, insert_text.replace(/\n$/, ''));
    await this.#edit(file, lines.join('\n'));
    return `The file ${path} has been edited.`;
  }

  async delete({ path }: Given<'delete'>): Promise<string> {
    if (checked(path) === root) throw new Error(`Cannot delete the ${root} directory itself`);
    for (const { id } of (await this.#existing(path)).values()) await this.#client.delete(id);
    return `Successfully deleted ${path}`;
  }

  async rename({ old_path, new_path }: Given<'rename'>): Promise<string> {
    const [from, to] = [checked(old_path), checked(new_path)];
    if (from === root) throw new Error(`Cannot rename the ${root} directory itself`);
    await this.#requireUnused(new_path, `The destination ${new_path} already exists`);
    for (const [path, file] of await this.#existing(old_path)) {
      const { metadata, occurredAt, expiresAt } = file;
      const name = to + path.slice(from.length);
      await this.#save(name, textOf(file), { metadata, occurredAt, expiresAt });
      await this.#client.delete(file.id, { ifVersion: file.version });
    }
    return `Successfully renamed ${old_path} to ${new_path}`;
  }

  /** Returns the file with this path, or the files in this directory. */
  async #files(path: string): Promise<Map<string, Memory>> {
    const { items } = await this.#client.list({ ...this.#owner, externalId: path });
    const found = items[0] ? items : this.#client.list({ ...this.#owner, limit: 100 });
    const files = new Map<string, Memory>();
    for await (const file of found) {
      const name = file.externalId ?? '';
      if (`${name}/`.startsWith(`${path}/`)) files.set(name, file);
    }
    return files;
  }

  async #existing(given: string, hint = ''): Promise<Map<string, Memory>> {
    const files = await this.#files(checked(given));
    if (files.size > 0 || checked(given) === root) return files;
    throw new Error(`The path ${given} does not exist${hint}`);
  }

  async #file(given: string): Promise<Memory> {
    const file = (await this.#existing(given, hint)).get(checked(given));
    if (file !== undefined) return file;
    throw new Error(`The path ${given} is not a file.`);
  }

  async #requireUnused(given: string, message: string): Promise<void> {
    const path = checked(given);
    if (path === root || (await this.#files(path)).size > 0) throw new Error(message);
  }

  async #save(externalId: string, text: string, kept: Kept = {}): Promise<void> {
    await this.#client.save({ ...this.#owner, externalId, content: `${text}\n`, ...kept });
  }

  async #edit({ id, version }: Memory, text: string): Promise<void> {
    await this.#client.update(id, { content: `${text}\n` }, { ifVersion: version });
  }
}

/** The tool runner does not check that the model has passed all arguments. */
function required(text: unknown, name: string): string {
  if (typeof text === 'string') return text;
  throw new Error(`${name} is required`);
}

function checked(path: string): string {
  if (!path.startsWith(root)) throw new Error(`Path must start with ${root}, got: ${path}`);
  const normal = posix.resolve(`${root}/${path.slice(root.length)}`);
  if (`${normal}/`.startsWith(`${root}/`)) return normal;
  throw new Error(`Path ${path} would escape ${root} directory`);
}

function textOf({ content }: Memory): string {
  return content.replace(/\n$/, '');
}

/** Returns the numbers of the lines in which an occurrence begins. */
function linesWith(text: string, wanted: string): number[] {
  let start = 0;
  let next = text.indexOf(wanted);
  return text.split('\n').flatMap((line, index) => {
    if (next !== -1 && next < start) next = text.indexOf(wanted, start);
    const end = start + line.length;
    start = end + 1;
    return next === -1 || next > end ? [] : [index + 1];
  });
}

function numbered(text: string, range?: number[] | null): string {
  const [first = 1, last = -1] = range?.length === 2 ? range : [];
  const lines = text.split('\n').slice(0, last === -1 ? undefined : last);
  const shown = lines.map((line, index) => `${String(index + 1).padStart(6)}\t${line}`);
  return shown.slice(Math.max(first, 1) - 1).join('\n');
}

/** Returns names and sizes, two levels deep, sorted by the names in each directory. */
function listing(given: string, files: Map<string, Memory>): string[] {
  const entries = new Map([['', `4K\t${given}`]]);
  for (const [path, file] of files) {
    const names = path.slice(checked(given).length + 1).split('/');
    for (const depth of [1, 2]) {
      const shown = names.slice(0, depth);
      if (shown.some((name) => name.startsWith('.') || name === 'node_modules')) continue;
      const isFile = shown.length === names.length;
      const entry = `${isFile ? sizeOf(textOf(file)) : '4K'}\t${given}/${shown.join('/')}`;
      entries.set(shown.join('\0'), isFile ? entry : `${entry}/`);
    }
  }
  return [...entries].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
}

function sizeOf(text: string): string {
  let size = Buffer.byteLength(text);
  let units = 'BKMG';
  for (; size >= 1024; size /= 1024) units = units.slice(1);
  return (Number.isInteger(size) ? String(size) : size.toFixed(1)) + units.charAt(0);
}
