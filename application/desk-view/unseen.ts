import type { Rights } from '../desk/rights.ts';

/** A fund that a person may not see, or that there is none of. */
export class UnknownFundError extends Error {
  override readonly name = 'UnknownFundError';
}

/** @throws UnknownFundError */
export const requireSeen = (rights: Rights, fundId: string): void => {
  if (!rights.has('see', fundId)) throw new UnknownFundError(`there is no fund ${fundId}`);
};

/** Stands for what a person may not know of a borrower. */
export const MASKED = '***';

export const masked = <Text extends string | null | undefined>(text: Text): Text =>
  (typeof text === 'string' && text !== '' ? MASKED : text) as Text;

/** An operation whose fund cannot be told belongs to who sees every fund. */
export const seesOperation = (rights: Rights, fundId: string | undefined): boolean =>
  fundId === undefined ? rights.within('see') === undefined : rights.has('see', fundId);

/** @returns what narrows a query to the funds in which a person has this right. @throws RoleError where it is none */
export const narrowedTo = (
  rights: Rights,
  right: Parameters<Rights['within']>[0],
): { readonly onlyFundIds?: readonly string[] } => {
  const onlyFundIds = rights.within(right);
  return onlyFundIds === undefined ? {} : { onlyFundIds };
};
