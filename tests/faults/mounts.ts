import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system mounted on a temporary folder. */
export type Mount = {
  folder: string;
  /** Unmounts the file system and mounts it again, to discard its cached pages. */
  remount(): void;
  unmount(): void;
};

/** Runs a command. If the command fails, throws an error with its stderr. */
export function sh(...command: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command);
  if (exitCode === 0) return stdout.toString();
  throw new Error(`${command.join(' ')}: ${stderr.toString().trim()}`);
}

export function mountTmpfs(megabytes: number): Mount {
  return mountOn((folder) => ['mount', '-t', 'tmpfs', '-o', `size=${megabytes}m`, 'none', folder]);
}

export function canMountTmpfs(): boolean {
  if (process.getuid?.() !== 0) return false;
  try {
    mountTmpfs(1).unmount();
    return true;
  } catch {
    return false;
  }
}

export function mountImage(image: string): Mount {
  return mountOn((folder) => ['mount', '-o', 'loop', image, folder]);
}

function mountOn(command: (folder: string) => string[]): Mount {
  const folder = mkdtempSync(join(tmpdir(), 'memory-mount-'));
  try {
    sh(...command(folder));
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
  return {
    folder,
    remount() {
      sh('umount', folder);
      sh(...command(folder));
    },
    unmount() {
      sh('umount', folder);
      rmSync(folder, { recursive: true });
    },
  };
}
