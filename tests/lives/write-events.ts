import { writeFile } from 'node:fs/promises';
import { liveAll } from './live.ts';
import { livesFrom } from './smallest.ts';
import { World } from './world.ts';

/*
 * Writes the public events of random lives, one JSON object a line, for validators that are none of ours:
 * node tests/lives/write-events.ts FILE [SEED [LIVES]]
 */
const [file, seed = '1', count = '25'] = process.argv.slice(2);
if (file === undefined) throw new Error('usage: node tests/lives/write-events.ts FILE [SEED [LIVES]]');

const world = await World.start();
try {
  await liveAll(world, livesFrom(Number(seed), Number(count)));
  const events = await world.events();
  await writeFile(file, events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  process.stdout.write(`${events.length} events of ${count} lives\n`);
} finally {
  await world.stop();
}
