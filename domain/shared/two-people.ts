import { asRead } from './as-read.ts';
import { DomainError } from './domain-error.ts';

/** What proves that two are two: sessions of two people, or names that nothing proves. */
export type Evidence = 'signed-in' | 'stated';

/** Who decides, as far as it is known: issuer and subject only of somebody who is signed in. */
export interface Somebody {
  readonly name?: string;
  readonly issuer?: string;
  readonly subject?: string;
}

/** @throws DomainError `evidence_missing` where this does not say who it is as the rule asks for it */
export const requireEvidence = (evidence: Evidence, { name, issuer, subject }: Somebody): void => {
  if (evidence === 'signed-in' && (issuer === undefined || subject === undefined))
    throw new DomainError(
      'evidence_missing',
      'the fund asks for two people who are signed in: decide and confirm in the console',
    );
  if (evidence === 'stated' && (name === undefined || asRead(name) === ''))
    throw new DomainError('evidence_missing', 'the fund asks for two people: say who decides (operator)');
};

/** A provider that is called otherwise from some day on, or replaced, names everybody anew: what a person keeps then is the subject or the name. */
const isSame = (evidence: Evidence, first: Somebody, second: Somebody): boolean => {
  if (first.subject !== undefined && first.subject === second.subject) return true;
  const byName = evidence === 'stated' || first.issuer !== second.issuer;
  return byName && asRead(first.name ?? '') === asRead(second.name ?? '');
};

/** @throws DomainError `own_decision` where both are the same person, as far as the evidence tells */
export const requireAnother = (evidence: Evidence, first: Somebody, second: Somebody): void => {
  if (isSame(evidence, first, second))
    throw new DomainError('own_decision', 'who decided cannot confirm it: another person has to');
};

export const neverAwaited = (id: string): DomainError =>
  new DomainError('decision_not_found', `no decision ${id} has awaited confirmation`);

export const strictest = (...all: readonly Evidence[]): Evidence =>
  all.includes('signed-in') ? 'signed-in' : 'stated';
