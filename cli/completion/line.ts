/* Parses an unfinished command line like a shell. */

const word = /(?:[^\s'"\\]|\\(?:.|$)|'[^']*(?:'|$)|"(?:\\.|[^"\\])*(?:"|\\?$))+/gs;
const program = /\bmemory(?:\.\w+)?$/;

/** Returns the words after the program's name, and the word being typed, which may be empty. */
export function readLine(line: string): { words: string[]; current: string } {
  const found = [...line.matchAll(word)];
  const words = found.map(([text]) => unquoted(text));
  const last = found.at(-1);
  const isBegun = last !== undefined && last.index + last[0].length === line.length;
  const current = (isBegun ? words.pop() : undefined) ?? '';
  // The name may follow npx or environment variables.
  const named = Math.max(
    0,
    words.findIndex((text) => program.test(text)),
  );
  return { words: words.slice(named + 1), current };
}

function unquoted(text: string): string {
  return text.replace(/\\(.)|['"]/gs, '$1');
}
