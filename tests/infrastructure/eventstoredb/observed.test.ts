import { expect, test } from '@jest/globals';
import { EventStoreDbStandIn } from '../../support/eventstoredb/stand-in.ts';
import { OBSERVED, observe } from './observed-facts.ts';

test('the stand-in answers what a real server of 23.10 was seen to answer', async () => {
  const server = await EventStoreDbStandIn.start();
  const answers = await observe(server.url);
  await server.kill();
  expect(answers).toEqual(OBSERVED);
});

test('since 24.10 everything of an event counts towards the limit of an append', async () => {
  const server = await EventStoreDbStandIn.start({ sizeRule: 'everything' });
  const answers = await observe(server.url);
  await server.kill();
  expect(answers).toEqual({
    ...OBSERVED,
    'an append of 1 MiB of data': 'MaxAppendSizeExceededError',
    'an append of 1 byte of data and more than 1 MiB of metadata': 'MaxAppendSizeExceededError',
  });
});
