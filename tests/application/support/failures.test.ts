import { expect, test } from '@jest/globals';
import { messageOf } from '../../../application/support/failures.ts';

test.each([
  ['its message', new Error('full'), 'full'],
  [
    'its code where it has no message',
    Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }),
    'ECONNREFUSED',
  ],
  ['its name where it has neither', new RangeError(), 'RangeError'],
  ['itself where it is no error', 'text', 'text'],
])('what went wrong is told by %s', (_, error, told) => expect(messageOf(error)).toBe(told));
