#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// npm starts commands with Node. This script starts the CLI on Bun, which is a dependency. If
// install scripts did not run, Bun's executable is still in its platform package.

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
  // After Ctrl-C, the child receives two signals: one from the terminal and one from this process.
  // The child treats two signals in quick succession as one.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => child.kill(name));
  child.on('error', (error) => {
    console.error(`Error: Cannot start Bun: ${error.message}`);
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
// Without --config, Bun would read bunfig.toml and .env from the working directory.
const config = fileURLToPath(new URL('./bunfig.toml', import.meta.url));
const args = [`--config=${config}`, main, ...process.argv.slice(2)];
// In newer versions of Node, `execve` replaces the process with Bun.
if (process.execve !== undefined && process.platform !== 'win32') {
  process.execve(bun, [bun, ...args], process.env);
} else {
  spawnBun(bun, args);
}
