import { expect, test } from '@jest/globals';
import { PATIENTLY } from '../../../application/administrator/patience.ts';
import { RoleError } from '../../../application/desk/rights.ts';
import { DomainError } from '../../../domain/shared/domain-error.ts';

test.each([
  ['a refusal of the domain', new DomainError('operation_invalid_state', 'it is settled'), false],
  ['a refusal of a role', new RoleError('decide'), false],
  ['a renegotiation that is being decided', new DomainError('concurrent_modification', 'at once'), true],
  ['a store that is away', new Error('connection refused'), true],
])('%s is waited for where it may pass', (_, error, waits) => {
  expect(PATIENTLY.mayPass(error)).toBe(waits);
});
