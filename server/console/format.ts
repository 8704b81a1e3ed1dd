/** Returns an error's message as a sentence. A field's name at its beginning stays as it is. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return /^[\w.[\]]+: /.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

export function countText(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? noun : nouns}`;
}

const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];

export function bytesText(count: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(count, 1)) / 3), units.length - 1);
  const value = count / 1_000 ** power;
  return `${value.toFixed(power > 0 && value < 100 ? 1 : 0)} ${units[power]}`;
}

const excerptUnits = 400;

export function excerptOf(content: string): string {
  if (content.length <= excerptUnits) return content;
  // The cut may be inside a surrogate pair.
  return `${content.slice(0, excerptUnits).replace(/[\ud800-\udbff]$/, '')}…`;
}
