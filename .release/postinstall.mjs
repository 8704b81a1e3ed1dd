import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// Starting Node takes longer than most commands run, and memory.mjs uses it only to find Bun. A
// shell is faster, so this script turns memory.mjs into a file that is valid for both the shell and
// Node: some package managers run it with Node regardless of its first line. On Windows, and after
// an install without scripts, the file still runs on Node, which is slower but works.

const shell = [
  'home=$(readlink -f "$0")',
  `home=\${home%/*}`,
  // If Bun's own install script has not run, bun.exe only prints an error, so it comes last.
  'for bun in "$home"/../@oven/bun-*/bin/bun "$home"/node_modules/@oven/bun-*/bin/bun' +
    ' "$home"/../bun/bin/bun.exe "$home"/node_modules/bun/bin/bun.exe',
  'do [ -x "$bun" ] && exec "$bun" --config="$home/bunfig.toml" "$home/cli/main.js" "$@"',
  'done',
  'exec node "$0" "$@"',
].join('; ');

const path = fileURLToPath(new URL('./memory.mjs', import.meta.url));
if (process.platform !== 'win32') {
  try {
    const [, ...lines] = readFileSync(path, 'utf8').split('\n');
    // Node parses the second line as a string and a comment, the shell as a no-op and our command.
    const both = ['#!/bin/sh', `':' //; ${shell}`, ...lines].join('\n');
    // Replaces the file, because a package manager may share it with other projects by hard link.
    writeFileSync(`${path}.new`, both, { mode: 0o755 });
    renameSync(`${path}.new`, path);
  } catch {
    // The unchanged file works, too.
  }
}
