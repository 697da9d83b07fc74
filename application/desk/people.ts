import { isOperator } from '../publication/description/decision-schema.ts';
import { UNSEEN_MARKS } from '../../domain/shared/as-read.ts';
import { ProviderRefusedError } from './identity-provider.ts';
import type { Claims, Identity } from './identity-provider.ts';
import type { Grant, Person } from './rights.ts';

export interface RoleRule extends Grant {
  readonly value: string;
}

export interface RoleRules {
  /** Name of the claim; where there is none of this name, dots descend. */
  readonly claim: string;
  readonly rules: readonly RoleRule[];
}

const LONGEST_NAME = 80;
const NAMES = ['name', 'preferred_username', 'email'] as const;

const claimAt = (claims: Claims, path: string): unknown =>
  (Object.hasOwn(claims, path) ? [path] : path.split('.')).reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, name)
        ? (value as Claims)[name]
        : undefined,
    claims,
  );

const textsIn = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).filter((one): one is string => typeof one === 'string');

/** As it can be recorded beside a decision; undefined for what no name can be made of. */
const nameOf = (value: unknown): string | undefined => {
  if (typeof value !== 'string') return undefined;
  const name = [...value.trim().replace(/\s+/g, ' ')].slice(0, LONGEST_NAME).join('').trim();
  return isOperator(name) ? name : undefined;
};

/** As long as OpenID Connect lets it be: it stands in every line of the desk log, and who somebody is must be told apart by reading. */
const SUBJECT = new RegExp(`^[^${UNSEEN_MARKS}]{1,255}$`, 'u');

/** @throws ProviderRefusedError */
export const personOf = ({ issuer, subject, claims }: Identity, { claim, rules }: RoleRules): Person => {
  if (!SUBJECT.test(subject) || !subject.isWellFormed())
    throw new ProviderRefusedError(
      'the subject that the provider names is empty, has more than 255 characters, or some that are not seen',
    );
  const values = textsIn(claimAt(claims, claim));
  const grants = rules
    .filter(({ value }) => values.includes(value))
    .map(({ role, funds }): Grant => ({ role, ...(funds && { funds }) }));
  const called = [...NAMES.map((name) => claims[name]), subject].map(nameOf);
  const name = called.find((one) => one !== undefined) ?? '(unnamed)';
  return { issuer, subject, name, grants };
};

/** As the setting writes it: `maker@fund+fund`. */
export const grantText = ({ role, funds }: Grant): string =>
  funds === undefined ? role : `${role}@${funds.join('+')}`;
