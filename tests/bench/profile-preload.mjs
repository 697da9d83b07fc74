import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';

/** In a process that is measured: SIGUSR2 begins a profile of its processor time, the next one writes it to PROFILE_FILE. */
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.setSamplingInterval', { interval: 500 });

let running = false;
process.on('SIGUSR2', async () => {
  running = !running;
  if (running) return session.post('Profiler.start');
  const { profile } = await session.post('Profiler.stop');
  writeFileSync(process.env.PROFILE_FILE, JSON.stringify(profile));
});
