#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// The way from Node, which npm starts commands with, to Bun, which this one runs on. Bun was
// installed beside it; after an install without scripts its program is still in the package of
// the platform.

const { resolve } = createRequire(import.meta.url);
const main = fileURLToPath(new URL('./cli/main.js', import.meta.url));

function findBun() {
  const bun = join(resolve('bun/package.json'), '..');
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const arch = process.arch === 'arm64' ? 'aarch64' : process.arch;
  const suffixes = platform === 'linux' ? ['', '-musl'] : [''];
  const unmoved = suffixes.map((suffix) =>
    join(bun, `../@oven/bun-${platform}-${arch}${suffix}/bin/bun`),
  );
  const found = [...unmoved, ...unmoved.map((path) => `${path}.exe`)].find(existsSync);
  return found ?? join(bun, 'bin/bun.exe');
}

function spawnBun(bun, args) {
  const child = spawn(bun, args, { stdio: 'inherit' });
  // A terminal's Ctrl-C reaches the child by itself; two at once count as one there.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => child.kill(name));
  child.on('error', (error) => {
    console.error(`Error: Bun cannot be started: ${error.message}`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    if (signal !== null) {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    } else {
      process.exitCode = code ?? 1;
    }
  });
}

const bun = findBun();
// Else Bun takes a bunfig.toml and a .env of the folder that this is called in.
const config = fileURLToPath(new URL('./bunfig.toml', import.meta.url));
const args = [`--config=${config}`, main, ...process.argv.slice(2)];
// Newer Nodes can become the other program, and stand in nobody's way.
if (process.execve !== undefined && process.platform !== 'win32') {
  process.execve(bun, [bun, ...args], process.env);
} else {
  spawnBun(bun, args);
}
