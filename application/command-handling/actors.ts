const ADMINISTRATOR = 'administrator';

export const actorNamed = (operator: string | undefined): string =>
  operator === undefined ? ADMINISTRATOR : `${ADMINISTRATOR}/${operator}`;

/** The person behind an actor of `actorNamed`; undefined where none is named. */
export const operatorOf = (actor: string): string | undefined =>
  actor.startsWith(`${ADMINISTRATOR}/`) ? actor.slice(ADMINISTRATOR.length + 1) : undefined;
