import type { Breach, Rule } from './source.ts';

const fileLines = 300;
const functionLines = 70;
const columns = 100;
/** For a line that holds a string, which the formatter does not break. */
const columnsWithString = 120;
/** What cannot be broken at all: a pattern on a line of its own. */
const patternAlone = /^\s*\/\s+[/a-z]*[;,]?$/;

/** Rules of size. */
export const lengthRules: Rule[] = [
  {
    name: `a file has at most ${fileLines} lines`,
    breaches: ({ text }) => {
      const count = text.split('\n').length - 1;
      return count > fileLines ? [{ line: fileLines + 1, why: `${count} lines` }] : [];
    },
    bad: { path: 'server/a.ts', text: '// a\n'.repeat(301) },
    good: { path: 'server/a.ts', text: '// a\n'.repeat(300) },
  },
  {
    name: `a function has at most ${functionLines} lines of its own`,
    breaches: ({ code }) => longFunctions(code.split('\n')),
    bad: { path: 'server/a.ts', text: functionOf('  a();\n'.repeat(69)) },
    good: {
      path: 'server/a.ts',
      text: functionOf(`${'  a();\n'.repeat(40)}  b(() => {\n${'    a();\n'.repeat(40)}  });\n`),
    },
  },
  {
    name: `a line has at most ${columns} columns`,
    breaches: ({ text, code }) => {
      const masked = code.split('\n');
      return text.split('\n').flatMap((line, index): Breach[] => {
        const code = masked[index] ?? '';
        if (patternAlone.test(code)) return [];
        const most = /['"`/]/.test(code) ? columnsWithString : columns;
        return line.length > most ? [{ line: index + 1, why: `${line.length} columns` }] : [];
      });
    },
    bad: { path: 'server/a.ts', text: `// ${'a'.repeat(98)}` },
    good: { path: 'server/a.ts', text: `const a = '${'a'.repeat(100)}';` },
  },
];

function functionOf(body: string): string {
  return `export function f(a: {\n  b: string;\n}): void {\n${body}}\n`.replace(
    '  b: string;\n',
    '',
  );
}

/** A line that begins a function and does not end it, as the formatter writes it. */
const begins =
  /\bfunction\b.*[({,]$|=> \{$|^\s+(?:(?:async|static|get|set|override) )*[#\w]+(?:<.*>)?\(.*\)(?:: .+)? \{$/;

/**
 * The lines of a function without those of the functions inside of it: here a closure is what a
 * class is elsewhere, and as little as a class is it too long because it has many methods.
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

/** The line that closes what begins at `start`: the formatter puts it at the same indentation. */
function endOf(lines: string[], start: number): number {
  const indentation = lines[start]?.search(/\S/) ?? 0;
  const closes = (line: string) =>
    line.search(/\S/) === indentation && line.trim().startsWith('}') && !line.endsWith('{');
  const end = lines.findIndex((line, index) => index > start && closes(line));
  return end < 0 ? lines.length - 1 : end;
}
