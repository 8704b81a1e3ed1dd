import type { Breach, Rule } from './source.ts';

const functionLines = 70;
const columns = 100;
/** The limit for a line with a string, because the formatter does not break strings. */
const columnsWithString = 120;
const comment = /^\s*(?:\/\/|\/?\*)/;
/** Matches a line that holds only a regular expression, which cannot be broken. */
const patternAlone = /^\s*\/.*\/[a-z]*[;,]?$/;

export const lengthRules: Rule[] = [
  {
    name: `a function has at most ${functionLines} lines, not counting inner functions`,
    breaches: ({ text }) => longFunctions(text.split('\n')),
    bad: { path: 'server/a.ts', text: functionOf('  a();\n'.repeat(69)) },
    good: {
      path: 'server/a.ts',
      text: functionOf(`${'  a();\n'.repeat(40)}  b(() => {\n${'    a();\n'.repeat(40)}  });\n`),
    },
  },
  {
    name: `a line has at most ${columns} columns`,
    breaches: ({ text }) =>
      text.split('\n').flatMap((line, index): Breach[] => {
        const isComment = comment.test(line);
        if (patternAlone.test(line) && !isComment) return [];
        const most = /['"`/]/.test(line) && !isComment ? columnsWithString : columns;
        return line.length > most ? [{ line: index + 1, why: `${line.length} columns` }] : [];
      }),
    bad: { path: 'server/a.ts', text: `// '${'a'.repeat(97)}'` },
    good: { path: 'server/a.ts', text: `const a = '${'a'.repeat(100)}';` },
  },
];

function functionOf(body: string): string {
  return `export function f(a: {\n  b: string;\n}): void {\n${body}}\n`.replace(
    '  b: string;\n',
    '',
  );
}

/** Matches the first line of a multi-line function, as the formatter writes it. */
const begins =
  /^[^'"]*\bfunction\b.*[({,]$|=> \{$|^\s+(?:(?:async|static|get|set|override) )*[#\w]+(?:<.*>)?\(.*\)(?:: .+)? \{$/;

/**
 * Finds long functions. The lines of an inner function do not count toward the outer function,
 * because closures serve as classes.
 */
function longFunctions(lines: string[]): Breach[] {
  const found = lines.flatMap((line, start) =>
    begins.test(line) ? [{ start, end: endOf(lines, start), inner: 0 }] : [],
  );
  for (const [index, { start, end }] of found.entries()) {
    const outer = found.findLast((one, before) => before < index && one.end > end);
    if (outer !== undefined) outer.inner += end - start + 1;
  }
  return found.flatMap(({ start, end, inner }) => {
    const own = end - start + 1 - inner;
    return own > functionLines ? [{ line: start + 1, why: `${own} lines` }] : [];
  });
}

/** Returns the index of the line that closes the block opened at `start`, found by indentation. */
function endOf(lines: string[], start: number): number {
  const indentation = lines[start]?.search(/\S/) ?? 0;
  const closes = (line: string) =>
    line.search(/\S/) === indentation && line.trim().startsWith('}') && !line.endsWith('{');
  const end = lines.findIndex((line, index) => index > start && closes(line));
  return end < 0 ? lines.length - 1 : end;
}
