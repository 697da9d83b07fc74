import { parseArgs } from 'node:util';
import { EventStoreDbStandIn } from './stand-in.ts';

/** The stand-in as a process of its own: --port 2113 --data-dir some/directory. May be killed at any moment. */
const { values } = parseArgs({
  options: { port: { type: 'string' }, 'data-dir': { type: 'string' }, 'size-rule': { type: 'string' } },
});
const dataDir = values['data-dir'];
const standIn = await EventStoreDbStandIn.start({
  port: Number(values.port ?? 0),
  ...(dataDir !== undefined && { dataDir }),
  ...(values['size-rule'] === 'everything' && { sizeRule: 'everything' }),
});
process.stdout.write(`${JSON.stringify({ url: standIn.url, port: standIn.port })}\n`);
