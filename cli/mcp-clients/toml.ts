/* Edits settings in TOML. Replaces or appends our section and keeps all other text. */

export async function parseToml(text: string): Promise<unknown> {
  try {
    return Bun.TOML.parse(text);
  } catch {
    throw new SyntaxError('is not valid TOML');
  }
}

/** Returns the text with the entry set in its section. */
export function editToml(text: string, [section, name]: [string, string], value: object): string {
  const entry = Bun.TOML.stringify({ [section]: { [name]: value } });
  const path = `${section}.${name}`;
  const lines = text.split(/(?<=\n)/);
  const begin = lines.findIndex((line) => isUnder(path, line));
  if (begin < 0) return text === '' ? entry : `${text.replace(/\n?$/, '\n')}\n${entry}`;
  const next = lines.findIndex((line, index) => index > begin && isOther(path, line));
  const own = lines.slice(begin, next < 0 ? undefined : next);
  // Comments before the next section belong to that section.
  const length = own.findLastIndex((line) => !/^\s*(?:#|$)/.test(line)) + 1;
  const comments = own.slice(0, length).filter((line) => /^\s*#/.test(line));
  return [...lines.slice(0, begin), ...comments, entry, ...lines.slice(begin + length)].join('');
}

const header = /^\s*\[\[?\s*([^\]]*?)\s*\]/;

/** Whether the line is the header of this table or of a table in it. */
function isUnder(path: string, line: string): boolean {
  const [, name] = header.exec(line) ?? [];
  return name === path || name?.startsWith(`${path}.`) === true;
}

function isOther(path: string, line: string): boolean {
  return header.test(line) && !isUnder(path, line);
}
