/**
 * Matches the beginning of each line with a sticky pattern. This is several times faster than a
 * search with the flag `m`, which tries to match at every character.
 */
export function matchLines(content: string, sticky: RegExp): RegExpExecArray[] {
  const matches: RegExpExecArray[] = [];
  for (let start = 0, end = 0; end >= 0; start = end + 1) {
    sticky.lastIndex = start;
    const found = sticky.exec(content);
    if (found !== null) matches.push(found);
    end = content.indexOf('\n', start);
  }
  return matches;
}
