import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { grantText, personOf } from '../../../application/desk/people.ts';
import { ProviderRefusedError } from '../../../application/desk/identity-provider.ts';
import type { RoleRules } from '../../../application/desk/people.ts';
import { isOperator } from '../../../application/publication/description/decision-schema.ts';

const FUND = '3f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10';
const ROLES: RoleRules = {
  claim: 'realm_access.roles',
  rules: [
    { role: 'maker', value: 'desk' },
    { role: 'maker', value: 'desk-one', funds: [FUND] },
    { role: 'checker', value: 'desk' },
    { role: 'auditor', value: 'audit' },
  ],
};
const person = (claims: object, subject = 'subject', roles = ROLES) =>
  personOf({ issuer: 'https://login.example', subject, claims: { ...claims } }, roles);

describe('what a provider says of somebody', () => {
  test.each<[string, unknown, readonly string[]]>([
    ['a list', { roles: ['desk', 'audit'] }, ['maker', 'checker', 'auditor']],
    ['a text', { roles: 'audit' }, ['auditor']],
    ['some funds', { roles: ['desk-one'] }, [`maker@${FUND}`]],
    ['no text', { roles: [1, null, ['desk'], { desk: true }, 'audit'] }, ['auditor']],
    ['a text of several', { roles: 'desk audit' }, []],
    ['other case', { roles: ['Desk'] }, []],
    ['an object', { roles: { desk: true } }, []],
    ['nothing', {}, []],
    ['a text where names are looked for', 'roles', []],
    ['null', null, []],
  ])('is a role by the value that the claim has: %s', (_, access, grants) => {
    expect(person({ realm_access: access, roles: ['desk'] }).grants.map(grantText)).toEqual(grants);
  });

  test('is by a claim whose own name has dots, too', () => {
    const roles = { ...ROLES, claim: 'https://login.example/roles' };
    expect(person({ [roles.claim]: ['audit'], realm_access: {} }, 'x', roles).grants.map(grantText)).toEqual([
      'auditor',
    ]);
  });

  test('is nothing that every object has', () => {
    const roles = { claim: 'constructor.name', rules: [{ role: 'maker', value: 'Object' }] } as const;
    expect(person({}, 'x', roles).grants).toEqual([]);
  });

  test.each<[object, string]>([
    [{ name: ' Maria  Souza ', preferred_username: 'maria', email: 'm@x' }, 'Maria Souza'],
    [{ name: '', preferred_username: 'maria', email: 'm@x' }, 'maria'],
    [{ name: 7, email: 'm@x' }, 'm@x'],
    [{ name: 'a\u0000b', email: 'm@x' }, 'm@x'],
    [{ name: 'a\u202Eb' }, 'subject'],
    [{}, 'subject'],
    [{ name: 'x'.repeat(100) }, 'x'.repeat(80)],
  ])('is the first name that can stand beside a decision: %j', (claims, name) => {
    expect(person(claims).name).toBe(name);
  });

  test('is always a name that can be recorded, and the subject as it was given', () => {
    fc.assert(
      fc.property(fc.anything(), fc.stringMatching(/^[\x20-\x7e]{1,255}$/), (name, subject) => {
        const found = person({ name }, subject);
        expect([isOperator(found.name), found.subject]).toEqual([true, subject]);
      }),
    );
  });

  test.each(['', 'x'.repeat(256), 'maria\0', '\u202eaira', 'maria\n', '\ud800'])(
    'is nobody where the subject is %j',
    (subject) => {
      expect(() => person({ name: 'Maria Souza' }, subject)).toThrow(ProviderRefusedError);
    },
  );

  test('is somebody whose subject has other letters', () => {
    const longest = 'é𝒜'.repeat(127);
    expect(person({}, longest).subject).toBe(longest);
  });
});
