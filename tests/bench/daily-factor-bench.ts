import { isDailyFactor, solveDailyFactor } from '../../domain/curve/daily-factor.ts';
import { addDays } from '../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { Cents } from '../../domain/shared/money.ts';

/** Processor time of solving a daily factor and of confirming one. `node tests/bench/daily-factor-bench.ts` */
const ISSUED = '2026-01-15' as CalendarDate;
const TIMES = 300;

const microseconds = (work: (turn: number) => unknown): string => {
  for (let turn = 0; turn < TIMES / 10; turn += 1) work(turn);
  const from = process.threadCpuUsage();
  for (let turn = 0; turn < TIMES; turn += 1) work(turn);
  const { user, system } = process.threadCpuUsage(from);
  return ((user + system) / TIMES).toFixed(0);
};

for (const count of [12, 60, 480]) {
  const installments = Array.from({ length: count }, (_, i) => ({
    dueDate: addDays(ISSUED, Math.round(30.44 * (i + 1))),
    faceValue: (95_000 + i) as Cents,
  }));
  const price = Math.round(installments.reduce((sum, { faceValue }) => sum + faceValue, 0) * 0.7);
  const solving = microseconds((turn) => solveDailyFactor((price + turn) as Cents, ISSUED, installments));
  const schedule = { acquisitionValue: price as Cents, dateIssued: ISSUED, installments };
  const factor = solveDailyFactor(schedule.acquisitionValue, ISSUED, installments);
  const confirming = microseconds(() => isDailyFactor(factor, schedule));
  console.log(`${count} installments: solved in ${solving} us, confirmed in ${confirming} us`);
}
