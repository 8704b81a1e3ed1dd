import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// To start Node takes longer than most commands run, and all that memory.mjs does there is to
// find Bun. A shell does that in a moment: here the file becomes one that is a script for the
// shell and for Node at once, since some package managers call it by Node whatever it says. Where
// installs run no scripts, and on Windows, Node stays in front: slower, and right.

const shell = [
  'home=$(readlink -f "$0")',
  `home=\${home%/*}`,
  // Where Bun's own script has not run, a file in its place says only that.
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
    // Node reads a text and a comment there; the shell a command that does nothing, and ours.
    const both = ['#!/bin/sh', `':' //; ${shell}`, ...lines].join('\n');
    // Not in place: a package manager may share the file with other projects.
    writeFileSync(`${path}.new`, both, { mode: 0o755 });
    renameSync(`${path}.new`, path);
  } catch {
    // As it was, it works.
  }
}
