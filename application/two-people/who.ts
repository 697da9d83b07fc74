import type { Somebody } from '../../domain/shared/two-people.ts';
import type { Person } from '../desk/person.ts';

/** Who decides: somebody who is signed in, or a name that is only stated. */
export interface Who {
  readonly person?: Person | undefined;
  readonly name?: string | undefined;
  /** Nobody is behind a program: it is never one of two people. */
  readonly program?: true;
}

export const somebodyOf = ({ person, name }: Who): Somebody => {
  if (person) return { name: person.name, issuer: person.issuer, subject: person.subject };
  return name === undefined ? {} : { name };
};
