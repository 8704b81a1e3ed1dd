/** Strings up to this length are parsed at normal speed. */
const fastLength = 1_000_000;
const addedMs = 200;

/** Makes the parsing of a large body block the thread. */
export function slowParse(): void {
  const parse = JSON.parse;
  JSON.parse = (text, reviver) => {
    if (text.length > fastLength) Bun.sleepSync(addedMs);
    return parse(text, reviver);
  };
}
