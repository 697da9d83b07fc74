import { HttpProblem } from '../errors/http-problem.ts';

/** Levels of lists and objects in one another. The deepest request of the interface has four. */
const DEEPEST = 20;

const QUOTE = 34;
const BACKSLASH = 92;
const OPENING: ReadonlySet<number> = new Set([91, 123]);
const CLOSING: ReadonlySet<number> = new Set([93, 125]);

/** The position of the quote that ends the string which begins here, or the end of the text. */
const endOfString = (text: string, start: number): number => {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
};

/**
 * Looks at brackets alone, in one pass and before anything is parsed, so that nothing which walks the value afterwards can be
 * led deeper.
 * @throws HttpProblem `invalid_request`
 */
export const requireShallow = (text: string, what: string): void => {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (OPENING.has(code)) depth += 1;
    else if (CLOSING.has(code)) depth -= 1;
    if (depth > DEEPEST)
      throw new HttpProblem('invalid_request', `${what} is nested more than ${DEEPEST} levels deep`);
  }
};
