type Setting = { name: string; description: string; default: string | null };

const settings: [name: string, description: string, preset: string | null][] = [
  ['MEMORY_MAX_BODY_BYTES', 'the largest body that is read', '5242880'],
  ['MEMORY_RATE_LIMIT', 'requests/seconds, or off', '6000/60'],
  ['MEMORY_CORS_ORIGINS', 'origins that browsers may call from, comma-separated', null],
  ['MEMORY_MCP_HOSTS', 'more host names of /mcp, comma-separated', null],
  ['LOG_LEVEL', 'debug, info, warn, error or silent', 'info'],
];

/**
 * The settings that the server reads only from the environment. A test keeps this list complete.
 */
export const serverSettings: Setting[] = settings.map(([name, description, preset]) => ({
  name,
  description,
  default: preset,
}));

export function serverSettingsText(): string {
  const lines = settings.map(([name, description, preset]) => {
    const suffix = preset === null ? '' : ` (default: ${preset})`;
    return `  ${name.padEnd(21)}  ${description}${suffix}`;
  });
  return `\nBy the environment alone:\n${lines.join('\n')}`;
}
