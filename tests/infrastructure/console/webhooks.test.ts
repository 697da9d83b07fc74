import { describe, expect, test } from '@jest/globals';
import { inLines } from '../../../infrastructure/console/pages/webhooks/delivery.ts';
import { withQuery } from '../../../infrastructure/console/names.ts';
import { boundedCount } from '../../../infrastructure/console/pages/webhooks/endpoints.ts';

describe('the webhook pages', () => {
  test('break a body into lines and leave its numbers as they were signed', () => {
    expect(inLines('{"amount":950.00,"list":[1]}')).toBe(
      '{\n  "amount": 950.00,\n  "list": [\n    1\n  ]\n}',
    );
    expect(inLines('not JSON')).toBe('not JSON');
  });

  test('name what is not counted further', () => {
    expect([boundedCount(999), boundedCount(1_000)]).toEqual(['999', '1.000+']);
  });

  test('put into an address only what is given', () => {
    expect(withQuery('/webhooks', {})).toBe('/webhooks');
    expect(withQuery('/webhooks', { show: 'failing', after: undefined })).toBe('/webhooks?show=failing');
  });
});
