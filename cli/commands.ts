import type { Parent } from './commander.ts';
import type { Io } from './io.ts';

type Add = (program: Parent, io: Io) => void;

/**
 * Every command, in the order of the help. Each is loaded by its name: to load them all takes
 * longer than most of them run.
 */
const commands = {
  serve: async () => (await import('./commands/serve.ts')).addServe,
  save: async () => (await import('./commands/save.ts')).addSave,
  list: async () => (await import('./commands/list.ts')).addList,
  search: async () => (await import('./commands/search.ts')).addSearch,
  get: async () => (await import('./commands/get.ts')).addGet,
  update: async () => (await import('./commands/update.ts')).addUpdate,
  delete: async () => (await import('./commands/delete.ts')).addDelete,
  ingest: async () => (await import('./commands/ingest.ts')).addIngest,
  status: async () => (await import('./commands/status.ts')).addStatus,
  wait: async () => (await import('./commands/wait.ts')).addWait,
  export: async () => (await import('./commands/export.ts')).addExport,
  import: async () => (await import('./commands/import.ts')).addImport,
  health: async () => (await import('./commands/health.ts')).addHealth,
  keys: async () => (await import('./commands/keys.ts')).addKeys,
  profile: async () => (await import('./commands/profile.ts')).addProfile,
  backup: async () => (await import('./commands/backup.ts')).addBackup,
  restore: async () => (await import('./commands/backup.ts')).addRestore,
  doctor: async () => (await import('./commands/doctor.ts')).addDoctor,
  help: async () => (await import('./commands/help.ts')).addHelp,
  completion: async () => (await import('./commands/completion.ts')).addCompletion,
} satisfies Record<string, () => Promise<Add>>;

export type CommandName = keyof typeof commands;

export const commandNames = Object.keys(commands);

export function isCommand(word: string | undefined): word is CommandName {
  return word !== undefined && Object.hasOwn(commands, word);
}

export function loadCommand(name: CommandName): Promise<Add> {
  return commands[name]();
}

export function loadEveryCommand(): Promise<Add[]> {
  return Promise.all(Object.values(commands).map((load) => load()));
}
