import { SyntaxKind as Kind, type Node } from 'typescript/unstable/ast';
import * as is from 'typescript/unstable/ast/is';

/** A range of a file's text, and the text that replaces it. */
export type Mutation = { start: number; end: number; text: string };

/** The mutation operators. Each returns its mutations of a syntax node. */
const mutationOperators: Record<
  string,
  (node: Node, textOf: (part: Node) => string) => Mutation[]
> = {
  comparison(node) {
    if (!is.isBinaryExpression(node)) return [];
    const other = comparisons.get(node.operatorToken.kind) ?? [];
    return other.map((operator) => replace(node.operatorToken, operator));
  },
  condition(node, textOf) {
    if (is.isIfStatement(node) || is.isWhileStatement(node)) return [negate(node.expression)];
    if (is.isConditionalExpression(node)) return [negate(node.condition)];
    if (!is.isBinaryExpression(node) || !logical.includes(node.operatorToken.kind)) return [];
    return [node.left, node.right].map((side) => replace(node, `(${textOf(side)})`));
    function negate(condition: Node): Mutation {
      return replace(condition, `!(${textOf(condition)})`);
    }
  },
  constant(node, textOf) {
    if (!is.isNumericLiteral(node)) return [];
    const value = Number(textOf(node).replaceAll('_', ''));
    return [replace(node, String(value < 10 ? value + 1 : Math.floor(value / 2)))];
  },
  boolean(node) {
    if (node.kind === Kind.TrueKeyword) return [replace(node, 'false')];
    return node.kind === Kind.FalseKeyword ? [replace(node, 'true')] : [];
  },
  removal(node) {
    const isGuard = is.isIfStatement(node) && node.elseStatement === undefined;
    return isGuard || is.isExpressionStatement(node) || is.isThrowStatement(node)
      ? [replace(node, '{}')]
      : [];
  },
  result(node, textOf) {
    const isBody = is.isArrowFunction(node) && !is.isBlock(node.body);
    const result = is.isReturnStatement(node) ? node.expression : isBody ? node.body : undefined;
    if (result === undefined) return [];
    return results.filter((text) => text !== textOf(result)).map((text) => replace(result, text));
  },
  sql(node, textOf) {
    if (!texts.includes(node.kind) || !isSql.test(textOf(node))) return [];
    return Array.from(textOf(node).matchAll(sqlOperators), ({ 0: found, index }) => {
      const start = node.getStart() + index;
      return { start, end: start + found.length, text: sqlMutations[found] ?? '' };
    });
  },
};

/** The replacements for each comparison operator: the changed boundary, and the negation. */
const comparisons = new Map<Kind, string[]>([
  [Kind.LessThanToken, ['<=', '>=']],
  [Kind.LessThanEqualsToken, ['<', '>']],
  [Kind.GreaterThanToken, ['>=', '<=']],
  [Kind.GreaterThanEqualsToken, ['>', '<']],
  [Kind.EqualsEqualsEqualsToken, ['!==']],
  [Kind.ExclamationEqualsEqualsToken, ['===']],
]);
const logical = [Kind.AmpersandAmpersandToken, Kind.BarBarToken, Kind.QuestionQuestionToken];
/**
 * Values to return instead of the original. The type check filters out those that the return type
 * does not allow.
 */
const results = ['null', 'undefined', 'true', 'false', '0', "''", '[]', '{}'];
const texts = [
  Kind.StringLiteral,
  Kind.NoSubstitutionTemplateLiteral,
  Kind.TemplateHead,
  Kind.TemplateMiddle,
  Kind.TemplateTail,
];
/** Only SQL strings are mutated, because most other strings are messages. */
const isSql = /\b(?:SELECT|UPDATE|DELETE|INSERT|WHERE|VALUES|ORDER BY|IS (?:NOT )?NULL)\b|\+\?/;
const sqlOperators = /(?<=\s)(?:<=|>=|<|>|AND|OR|ASC|DESC|IS NULL|IS NOT NULL)(?=\s|`|'|$)/g;
const sqlMutations: Record<string, string> = {
  '<=': '<',
  '>=': '>',
  '<': '<=',
  '>': '>=',
  AND: 'OR',
  OR: 'AND',
  ASC: 'DESC',
  DESC: 'ASC',
  'IS NULL': 'IS NOT NULL',
  'IS NOT NULL': 'IS NULL',
};

/** Returns all mutations of a file, grouped by mutation operator. */
export function mutationsOf(file: Node, text: string): Map<string, Mutation[]> {
  const found = new Map<string, Mutation[]>();
  const textOf = (part: Node) => text.slice(part.getStart(), part.end);
  function visit(node: Node): void {
    // Types and imports have no behaviour at run time.
    if (is.isTypeNode(node) || is.isImportDeclaration(node) || is.isExportDeclaration(node)) return;
    if (is.isTypeAliasDeclaration(node) || is.isInterfaceDeclaration(node)) return;
    for (const [operator, mutate] of Object.entries(mutationOperators)) {
      const mutations = mutate(node, textOf);
      if (mutations.length > 0) found.set(operator, [...(found.get(operator) ?? []), ...mutations]);
    }
    node.forEachChild(visit);
  }
  visit(file);
  return found;
}

function replace(node: Node, text: string): Mutation {
  return { start: node.getStart(), end: node.end, text };
}
