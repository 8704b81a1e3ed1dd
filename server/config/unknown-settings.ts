/** Settings of the SDK and the CLI, which may also be set where the server runs. */
const clientSettings = ['MEMORY_BASE_URL'];
/** Names that systemd sets for every service. */
const foreign = /^MEMORY_PRESSURE_(WATCH|WRITE)$/;

/** Returns a warning for each variable that looks like one of our settings but is none. */
export function unknownSettings(
  env: Record<string, string | undefined>,
  serverSettings: readonly string[],
): string[] {
  const known = [...serverSettings, ...clientSettings];
  const unknown = Object.keys(env).filter((name) => {
    return name.startsWith('MEMORY_') && env[name] && !known.includes(name) && !foreign.test(name);
  });
  return unknown.sort().map((name) => {
    const nearest = nearestTo(name, known);
    const rest = nearest === undefined ? 'see memory serve --help' : `did you mean ${nearest}?`;
    return `${name} is not a setting and has no effect; ${rest}`;
  });
}

/** Compares without the prefix, because not every setting has it. */
function nearestTo(name: string, known: readonly string[]): string | undefined {
  const word = withoutPrefix(name);
  const ranked = known
    .map((candidate) => ({ candidate, edits: editDistance(word, withoutPrefix(candidate)) }))
    .sort((a, b) => a.edits - b.edits);
  const [first] = ranked;
  // A name that shares too little with every setting gets no suggestion.
  return first !== undefined && first.edits <= word.length / 2 ? first.candidate : undefined;
}

function withoutPrefix(name: string): string {
  return name.replace(/^MEMORY_/, '');
}

/** The Levenshtein distance: how many letters must be added, removed or replaced. */
function editDistance(from: string, to: string): number {
  let distances = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [row, letter] of [...from].entries()) {
    const next = [row + 1];
    for (const [column, other] of [...to].entries()) {
      const replaced = (distances[column] ?? 0) + (letter === other ? 0 : 1);
      const removed = (distances[column + 1] ?? 0) + 1;
      next.push(Math.min(replaced, removed, (next[column] ?? 0) + 1));
    }
    distances = next;
  }
  return distances.at(-1) ?? 0;
}
