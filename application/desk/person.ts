export const DESK_ROLES = ['viewer', 'maker', 'checker', 'auditor'] as const;

/** What somebody may do at the desk; nobody has one by default. */
export type Role = (typeof DESK_ROLES)[number];

/** A role, in every fund or only in those that are named. */
export interface Grant {
  readonly role: Role;
  /** Ids; undefined: every fund. */
  readonly funds?: readonly string[];
}

/** Somebody whom the provider signed in: issuer and subject say who it is, whatever the name. */
export interface Person {
  readonly issuer: string;
  readonly subject: string;
  readonly name: string;
  readonly grants: readonly Grant[];
}
