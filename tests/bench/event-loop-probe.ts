import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Preloaded into the measured service: SIGUSR2 starts a new measurement, SIGWINCH writes the longest stall (ms) to EVENT_LOOP_FILE. */
const histogram = monitorEventLoopDelay({ resolution: 5 });
histogram.enable();
process.on('SIGUSR2', () => histogram.reset());
process.on('SIGWINCH', () => {
  writeFileSync(
    process.env['EVENT_LOOP_FILE']!,
    JSON.stringify({ max: histogram.max / 1e6, p99: histogram.percentile(99) / 1e6 }),
  );
});
