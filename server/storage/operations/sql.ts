type Joined = { parts: readonly string[]; text: string };

const joined = new WeakMap<TemplateStringsArray, Joined>();

/**
 * Joins the parts of a statement's text, but only once for the same parts. A new string would have
 * to be compared with the texts of all prepared statements on each call.
 */
export function sql(strings: TemplateStringsArray, ...parts: readonly string[]): string {
  const known = joined.get(strings);
  if (known?.parts.every((part, index) => part === parts[index])) return known.text;
  const text = String.raw({ raw: strings }, ...parts);
  joined.set(strings, { parts, text });
  return text;
}
