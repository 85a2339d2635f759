import { type ArithmeticExpression, forEachChild, type ParameterExpansionPart, type SyntaxNode } from 'unbash';
import { assignedIn, isSafeArithmetic, isSafeNumber, isSafeSubscript } from './arithmetic.js';
import type { Frame, Notes } from './frame.js';
import { writtenBySetting } from './variable-file.js';

/** What a look at the words of a command found besides nested commands. */
export interface Inspected {
  /** Variables that are used. */
  variables: Set<string>;
}

/** Finds every command inside of words, and every expansion that may run more than it shows. */
export function inspect(node: SyntaxNode, frame: Frame, notes: Notes): Inspected {
  const found: Inspected = { variables: new Set() };
  look(node, { frame, notes, found });
  return found;
}

interface Look {
  frame: Frame;
  notes: Notes;
  found: Inspected;
}

/** What `${v@X}` may do without evaluating the value. */
const HARMLESS_TRANSFORMS = new Set(['Q', 'E', 'U', 'u', 'L', 'K', 'k', 'A', 'a']);

function look(node: SyntaxNode, context: Look): void {
  const { frame, notes, found } = context;
  switch (node.type) {
    case 'CommandExpansion':
    case 'ProcessSubstitution':
    case 'ArithmeticCommandExpansion': {
      const { script } = node;
      if (script === undefined) notes.doubt('a substitution in it could not be read');
      else {
        const inner: Frame = {
          ...frame,
          scope: frame.scope.clone(),
          isPiped: true,
          inputText: undefined,
          inputPaths: undefined,
          outer: undefined,
        };
        // `<(...)` goes on beside what follows.
        if (node.type === 'ProcessSubstitution') notes.repeated('end', () => notes.script(script, inner, notes));
        else notes.script(script, inner, notes);
      }
      return;
    }
    case 'SimpleExpansion':
      found.variables.add(node.text.slice(1));
      return;
    case 'ParameterExpansion':
      found.variables.add(node.parameter);
      lookAtParameter(node, context);
      break;
    case 'Unknown':
      notes.doubt('an expansion in it could not be read');
      break;
    case 'Transform':
      if (!HARMLESS_TRANSFORMS.has(node.operand.value)) notes.doubt('an expansion in it evaluates a value');
      break;
    case 'ArithmeticExpansion':
      if (
        node.expression === undefined
          ? !/^\$(?:\(\(|\[)\s*(?:\)\)|\])$/.test(node.text)
          : !isSafeArithmetic(node.expression, frame.scope)
      ) {
        notes.doubt(ARITHMETIC);
      }
      noteAssigned(node.expression, notes);
      break;
    case 'ArrayValue':
      for (const { text } of node.elements) {
        const subscript = /^\[([^\]]*)/.exec(text)?.[1];
        if (subscript !== undefined && !isSafeSubscript(subscript, frame.scope)) notes.doubt(ARITHMETIC);
      }
      break;
    case 'Assignment':
      if (node.index !== undefined && !isSafeNumber(node.index, frame.scope)) notes.doubt(ARITHMETIC);
      break;
    case 'HereDoc':
      if (node.closing === undefined || node.delimiter === undefined) notes.doubt('a here-document in it does not end');
      break;
    case 'FileDescriptorVariable':
      notes.setting({ name: node.name, exported: false });
      frame.scope.forget(node.name);
      break;
    default:
      break;
  }
  forEachChild(node, (child) => look(child, context));
}

/** What an expression sets is set for what follows, as by any other assignment. */
export function noteAssigned(expression: ArithmeticExpression | undefined, notes: Notes): void {
  if (expression === undefined) return;
  for (const name of assignedIn(expression)) notes.setting({ name, exported: false });
}

export const ARITHMETIC = 'it calculates with values that may hold commands';

function lookAtParameter(node: ParameterExpansionPart, { frame, notes }: Look): void {
  const { prefix, index, operation, parameter } = node;
  const isNames = prefix === '!' && (operation?.type === 'Names' || index?.value === '@' || index?.value === '*');
  if (prefix === '!' && !isNames) notes.doubt('an expansion in it is only known when it runs');
  if (index !== undefined && index.value !== '@' && index.value !== '*' && !isSafeNumber(index, frame.scope)) {
    notes.doubt(ARITHMETIC);
  }
  if (operation?.type === 'Slice') {
    const isSafe = [operation.offset, operation.length].every(
      (word) => word === undefined || isSafeNumber(word, frame.scope),
    );
    if (!isSafe) notes.doubt(ARITHMETIC);
  }
  if (operation?.type === 'Default' && operation.operator.endsWith('=')) {
    notes.setting({ name: parameter, exported: false });
    frame.scope.forget(parameter);
    for (const file of writtenBySetting(parameter, undefined, frame.scope.folders)) notes.redirection(file);
  }
}
