import { expect, test } from '@jest/globals';
import { written } from '../../../infrastructure/console/html.ts';
import { speakingIn } from '../../../infrastructure/console/language.ts';
import { positionView } from '../../../infrastructure/console/pages/portfolio/position.ts';
import { FundUnderTest, active } from '../../contracts/fund-side-samples.ts';
import { openReadModel } from '../../support/sql/temporary-database.ts';

test('the portfolio says which operations no present value holds', async () => {
  const { database, close } = await openReadModel();
  const fund = new FundUnderTest(database, 100);
  const shown = async (): Promise<string> => {
    const analysed = await fund.analysed('2026-06-20');
    const drill = (): string => '/operations';
    const exports = { position: '/position', composition: '/composition' };
    const others = { against: undefined, names: new Map(), documents: new Map(), exports, drill, byFund: [] };
    return speakingIn('en', () => written(positionView({ analysed, ...others })));
  };
  try {
    expect(await shown()).not.toContain('no present value');
    const pricing = { policy: 'curve_v1', dailyFactor: '0.8' } as const;
    await fund.tell('CHEAP', active(fund.loan('CHEAP', { pricing })));
    expect(await shown()).toContain(
      '1 operations are worth more than an amount can say; no present value holds them: CHEAP.',
    );
  } finally {
    await close();
  }
});
