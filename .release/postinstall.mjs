import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// Starting Node takes longer than most commands, and memory.mjs uses Node only to find Bun. This
// script therefore makes memory.mjs a shell script, which starts faster. The file remains valid for
// Node, because some package managers run it with Node regardless of its first line. On Windows,
// and if install scripts do not run, memory.mjs remains a Node script.

const shell = [
  'home=$(readlink -f "$0")',
  `home=\${home%/*}`,
  // Try bun.exe last: if Bun's own install script did not run, bun.exe only prints an error.
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
    // To Node, the second line is a string and a comment. To the shell, it is a no-op and our
    // command.
    const both = ['#!/bin/sh', `':' //; ${shell}`, ...lines].join('\n');
    // Replace the file instead of overwriting it, because a package manager may have hard-linked
    // the file into other projects.
    writeFileSync(`${path}.new`, both, { mode: 0o755 });
    renameSync(`${path}.new`, path);
  } catch {
    // Without the change, the script runs on Node.
  }
}
