/*
 * A command line that is being typed, read as far as a shell would read it.
 */

const word = /(?:[^\s'"\\]|\\(?:.|$)|'[^']*(?:'|$)|"(?:\\.|[^"\\])*(?:"|\\?$))+/gs;
const program = /\bmemory(?:\.\w+)?$/;

/** The words after the program's name, and the one that is being typed, perhaps still empty. */
export function readLine(line: string): { words: string[]; current: string } {
  const found = [...line.matchAll(word)];
  const words = found.map(([text]) => unquoted(text));
  const last = found.at(-1);
  const isBegun = last !== undefined && last.index + last[0].length === line.length;
  const current = (isBegun ? words.pop() : undefined) ?? '';
  // Before the name may stand npx, or what is to be its environment.
  const named = Math.max(
    0,
    words.findIndex((text) => program.test(text)),
  );
  return { words: words.slice(named + 1), current };
}

function unquoted(text: string): string {
  return text.replace(/\\(.)|['"]/gs, '$1');
}
