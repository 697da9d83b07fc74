import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RoleError, Rights, may } from '../../../application/desk/rights.ts';
import type { Grant, Role, Right } from '../../../application/desk/rights.ts';

const [A, B] = ['fund-a', 'fund-b'];

/** What each role may, in words of the table. */
const MAY: Readonly<Record<Role, readonly Right[]>> = {
  viewer: ['see', 'service'],
  maker: ['see', 'service', 'borrowers', 'decide', 'reconcile', 'resend'],
  checker: ['see', 'service', 'borrowers', 'confirm'],
  auditor: ['see', 'service', 'borrowers', 'verify', 'desk_log'],
};
const EVERYWHERE: readonly Right[] = ['service', 'verify', 'seal', 'desk_log'];
const ALL: readonly Right[] = [
  ...(['see', 'borrowers', 'decide', 'confirm', 'reconcile', 'resend'] as const),
  ...EVERYWHERE,
];
const ROLES = Object.keys(MAY) as readonly Role[];

describe('a right', () => {
  test.each(ROLES)('of a %s in every fund', (role) => {
    const rights = new Rights({ grants: [{ role }] });
    expect(ALL.filter((right) => rights.has(right)).toSorted()).toEqual([...MAY[role]].toSorted());
    for (const right of MAY[role]) expect(rights.within(right)).toBeUndefined();
  });

  test.each(ROLES)('of a %s in some funds is none of what spans all of them', (role) => {
    const rights = new Rights({ grants: [{ role, funds: [A] }] });
    const own = MAY[role].filter((right) => !EVERYWHERE.includes(right));
    expect(ALL.filter((right) => rights.has(right)).toSorted()).toEqual(own.toSorted());
    for (const right of own) expect([rights.within(right), rights.has(right, B)]).toEqual([[A], false]);
  });

  test('adds up over the grants of a person', () => {
    const rights = new Rights({ grants: [{ role: 'viewer' }, { role: 'maker', funds: [A] }] });
    expect([rights.within('see'), rights.within('decide')]).toEqual([undefined, [A]]);
    expect([rights.has('decide', A), rights.has('decide', B), rights.has('decide')]).toEqual([
      true,
      false,
      true,
    ]);
    expect(() => rights.require('decide', B)).toThrow(RoleError);
    const twice = new Rights({
      grants: [
        { role: 'maker', funds: [A, B] },
        { role: 'auditor', funds: [A] },
      ],
    });
    expect([twice.within('see'), twice.within('decide')]).toEqual([
      [A, B],
      [A, B],
    ]);
  });

  test('of nobody, or in no fund, is refused with the roles that would do', () => {
    for (const grants of [[], [{ role: 'auditor', funds: [] }] as const])
      for (const right of ALL) {
        const rights = new Rights({ grants });
        expect(rights.has(right)).toBe(false);
        expect(() => rights.within(right)).toThrow(RoleError);
      }
    expect(new RoleError('borrowers')).toMatchObject({
      roles: ['maker', 'checker', 'auditor'],
      everywhere: false,
    });
    expect(new RoleError('seal')).toMatchObject({ roles: [], everywhere: true });
  });

  test('is everybody’s without sign-in', () => {
    expect(ALL.every((right) => may({}, right, A))).toBe(true);
    const person = { issuer: 'i', subject: 's', name: 'n', grants: [] };
    expect(ALL.some((right) => may({ person }, right, A))).toBe(false);
  });

  test('is never taken away by one more grant, and never reaches a fund that no grant names', () => {
    const grant: fc.Arbitrary<Grant> = fc.record(
      { role: fc.constantFrom(...ROLES), funds: fc.subarray([A, B]) },
      { requiredKeys: ['role'] },
    );
    fc.assert(
      fc.property(fc.array(grant, { maxLength: 4 }), grant, fc.constantFrom(...ALL), (grants, one, right) => {
        const [before, after] = [new Rights({ grants }), new Rights({ grants: [...grants, one] })];
        for (const fundId of [A, B, 'fund-c']) {
          if (before.has(right, fundId)) expect(after.has(right, fundId)).toBe(true);
          const named = grants.some(({ funds }) => funds === undefined || funds.includes(fundId));
          if (!named) expect(before.has(right, fundId)).toBe(false);
        }
      }),
    );
  });
});
