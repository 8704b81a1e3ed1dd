/** Shorter texts parse at normal speed. */
const fastLength = 1_000_000;
const addedMs = 200;

/** Parsing a large body blocks its thread. */
export function slowParse(): void {
  const parse = JSON.parse;
  JSON.parse = (text, reviver) => {
    if (text.length > fastLength) Bun.sleepSync(addedMs);
    return parse(text, reviver);
  };
}
