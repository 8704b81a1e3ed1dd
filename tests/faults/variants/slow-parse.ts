/** Characters of JSON that parse as fast as ever. */
const fastLength = 1_000_000;
const addedMs = 200;

/** A parser that holds its thread up over large bodies. */
export function slowParse(): void {
  const parse = JSON.parse;
  JSON.parse = (text, reviver) => {
    if (text.length > fastLength) Bun.sleepSync(addedMs);
    return parse(text, reviver);
  };
}
