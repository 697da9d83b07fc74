const ADMINISTRATOR = 'administrator';

export const actorNamed = (operator: string | undefined): string =>
  operator === undefined ? ADMINISTRATOR : `${ADMINISTRATOR}/${operator}`;

export const operatorOf = (actor: string): string | undefined =>
  actor.startsWith(`${ADMINISTRATOR}/`) ? actor.slice(ADMINISTRATOR.length + 1) : undefined;
