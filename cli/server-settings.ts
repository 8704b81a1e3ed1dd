type Setting = { name: string; description: string; default: string | null };

const settings: [name: string, description: string, preset: string | null][] = [
  ['MEMORY_MAX_BODY_BYTES', 'the maximum request body, in bytes', '5242880'],
  ['MEMORY_RATE_LIMIT', 'limit as requests/seconds, or off', '6000/60'],
  ['MEMORY_CORS_ORIGINS', 'the allowed CORS origins, comma-separated', null],
  ['MEMORY_MCP_HOSTS', 'additional host names for /mcp, comma-separated', null],
  ['LOG_LEVEL', 'debug, info, warn, error or silent', 'info'],
];

/** The settings that the server reads only from the environment. A test checks the list. */
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
  return `\nSet by environment variables only:\n${lines.join('\n')}`;
}
