export const DESK_ROLES = ['viewer', 'maker', 'checker', 'auditor'] as const;

export type Role = (typeof DESK_ROLES)[number];

export interface Grant {
  readonly role: Role;
  readonly funds?: readonly string[];
}

/** Somebody whom the provider signed in: issuer and subject say who it is, whatever the name. */
export interface Person {
  readonly issuer: string;
  readonly subject: string;
  readonly name: string;
  readonly grants: readonly Grant[];
}

interface Allowed {
  readonly roles: readonly Role[];
  /** It spans all funds, so a role that is limited to some of them is not enough. */
  readonly everywhere?: true;
}

const RIGHTS = {
  see: { roles: DESK_ROLES },
  borrowers: { roles: ['maker', 'checker', 'auditor'] },
  decide: { roles: ['maker'] },
  confirm: { roles: ['checker'] },
  withdraw: { roles: ['maker', 'checker'] },
  configure: { roles: ['maker'] },
  reconcile: { roles: ['maker'] },
  resend: { roles: ['maker'] },
  verify: { roles: ['auditor'], everywhere: true },
  /** Adds to what an auditor verifies, so who only looks on may not. */
  seal: { roles: [], everywhere: true },
  desk_log: { roles: ['auditor'], everywhere: true },
  /** How the service is, which tells of all funds together. */
  service: { roles: DESK_ROLES, everywhere: true },
} as const satisfies Readonly<Record<string, Allowed>>;

export type Right = keyof typeof RIGHTS;

export class RoleError extends Error {
  override readonly name = 'RoleError';
  readonly roles: readonly Role[];
  readonly everywhere: boolean;

  constructor(right: Right) {
    const { roles, everywhere }: Allowed = RIGHTS[right];
    super(`the right to ${right} asks for another role`);
    this.roles = roles;
    this.everywhere = everywhere === true;
  }
}

export class Rights {
  readonly #grants: readonly Grant[];

  constructor({ grants }: Pick<Person, 'grants'>) {
    this.#grants = grants;
  }

  /** In which funds, never an empty list; undefined: in every fund. @throws RoleError where in none */
  within(right: Right): readonly string[] | undefined {
    const funds = this.#funds(right);
    if (funds?.length === 0) throw new RoleError(right);
    return funds;
  }

  /** @param fundId default: any */
  has(right: Right, fundId?: string): boolean {
    const funds = this.#funds(right);
    return funds === undefined || (fundId === undefined ? funds.length > 0 : funds.includes(fundId));
  }

  /** @throws RoleError */
  require(right: Right, fundId: string): void {
    if (!this.has(right, fundId)) throw new RoleError(right);
  }

  #funds(right: Right): readonly string[] | undefined {
    const { roles, everywhere }: Allowed = RIGHTS[right];
    const given = this.#grants.filter(({ role }) => roles.includes(role));
    if (given.some(({ funds }) => funds === undefined)) return undefined;
    return everywhere ? [] : [...new Set(given.flatMap(({ funds = [] }) => funds))];
  }
}

/** Whether a person may; without sign-in everybody may everything. @param fundId default: any */
export const may = (
  { person }: { readonly person?: Person | undefined },
  right: Right,
  fundId?: string,
): boolean => person === undefined || new Rights(person).has(right, fundId);
