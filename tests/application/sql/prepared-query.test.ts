import { expect, test } from '@jest/globals';
import { preparedList } from '../../../application/sql/prepared-query.ts';
import { queryBuilder } from '../../../application/sql/engine.ts';

test('a query over a list is built once for each of few lengths, and binds every value of the list', () => {
  let built = 0;
  const marks = preparedList((operations, p: { group: string }) => {
    built += 1;
    return queryBuilder('postgres')
      .selectFrom('consumer_mark')
      .select('sequence')
      .where('operation', 'in', operations)
      .where('consumer_group', '=', p.group);
  });
  const bound = (...operations: string[]) => marks(operations, { group: 'g' }).compile();
  expect(bound('a').parameters).toEqual(['a', 'g']);
  expect(bound('b', 'c', 'd').parameters).toEqual(['b', 'c', 'd', 'b', 'g']);
  const four = bound('e', 'f', 'h', 'i');
  expect(four.parameters).toEqual(['e', 'f', 'h', 'i', 'g']);
  expect(four.sql).toContain('"operation" in ($1, $2, $3, $4) and "consumer_group" = $5');
  expect(built).toBe(2);
});
