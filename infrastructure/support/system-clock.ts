import type { RealClock } from '../../application/ports/clock.ts';
import type { RealTime } from '../../domain/shared/identifiers.ts';

export class SystemClock implements RealClock {
  realNow(): RealTime {
    return new Date().toISOString() as RealTime;
  }
}
