import { userInfo } from 'node:os';
import { InvalidArgumentError } from 'commander';
import { OPERATOR_RULE, isOperator } from '../../application/publication/description/decision-schema.ts';

const namedBySystem = (): string => {
  try {
    return userInfo().username.trim();
  } catch {
    // A container may run as a number that no user has.
    return '';
  }
};

/** Who runs this command, as the operating system says it. */
export const userOfSystem = (name: string = namedBySystem()): string =>
  isOperator(name) ? name : `uid ${process.getuid?.() ?? 'unknown'}`;

export const operatorOption = (text: string): string => {
  const name = text.trim();
  if (isOperator(name)) return name;
  throw new InvalidArgumentError(`It ${OPERATOR_RULE}.`);
};
