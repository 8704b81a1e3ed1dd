import { type ParseArgsConfig, parseArgs } from 'node:util';

/**
 * Parses the arguments of a harness. With --help, prints the usage; after a mistake, prints what is
 * wrong as well. Both end the process.
 */
export function parseArguments<Config extends ParseArgsConfig>(usage: string, config: Config) {
  if (process.argv.includes('--help')) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return parseArgs(config);
  } catch (error) {
    exitWithUsage(error instanceof Error ? error.message : String(error), usage);
  }
}

export function exitWithUsage(problem: string, usage: string): never {
  console.error(`${problem}\n\n${usage}`);
  process.exit(2);
}
