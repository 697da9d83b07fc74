import type { PrivateText } from '../../domain/shared/private-text.ts';
import type { BorrowerVault } from '../ports/borrower-vault.ts';

/** The texts in their order, plain ones as they are; undefined where there is none, or nothing opens it any more. */
export const readTexts = async (
  vault: Pick<BorrowerVault, 'openTexts'>,
  stream: string,
  texts: readonly (PrivateText | undefined)[],
): Promise<readonly (string | undefined)[]> => {
  const sealed = texts.filter((text) => typeof text === 'object');
  const opened = (await vault.openTexts(stream, sealed)).values();
  return texts.map((text) => (typeof text === 'object' ? opened.next().value : text));
};
