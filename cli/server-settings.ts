type Setting = { name: string; description: string; default?: string };

/** What the server reads from the environment alone. A test holds this to its settings. */
export const serverSettings: Setting[] = [
  {
    name: 'MEMORY_MAX_BODY_BYTES',
    description: 'the largest body that is read',
    default: '5242880',
  },
  {
    name: 'MEMORY_RATE_LIMIT',
    description: 'requests/seconds, or off',
    default: '6000/60',
  },
  {
    name: 'MEMORY_CORS_ORIGINS',
    description: 'origins that browsers may call from, comma-separated',
  },
  {
    name: 'MEMORY_MCP_HOSTS',
    description: 'more host names of /mcp, comma-separated',
  },
  {
    name: 'LOG_LEVEL',
    description: 'debug, info, warn, error or silent',
    default: 'info',
  },
];

export function serverSettingsText(): string {
  const width = Math.max(...serverSettings.map(({ name }) => name.length));
  const lines = serverSettings.map(({ name, description, default: preset }) => {
    const suffix = preset === undefined ? '' : ` (default: ${preset})`;
    return `  ${name.padEnd(width)}  ${description}${suffix}`;
  });
  return `\nBy the environment alone:\n${lines.join('\n')}`;
}
