import { expect } from '@jest/globals';
import type { ApiClient } from '../api-client.ts';
import { MoodyReceiver } from '../moody-receiver.ts';
import type { Random } from '../random.ts';
import { Cluster } from './cluster.ts';
import type { Engines } from './engines.ts';

const WEBHOOK_TIMEOUT_MS = 1_500;
/** So many, and so long, that no delivery is given up, also while this machine is too busy to answer in time. */
const RETRIES = [...Array.from({ length: 19 }, () => '100ms'), ...Array.from({ length: 60 }, () => '1s')];

/** Two processes of the service, and a receiver in moods that is told everything. */
export class MoodyPair {
  readonly cluster: Cluster;
  readonly receiver: MoodyReceiver;
  /** The same client at each process. */
  readonly apis: ApiClient[] = [];

  private constructor(cluster: Cluster, receiver: MoodyReceiver) {
    this.cluster = cluster;
    this.receiver = receiver;
  }

  static async start(engines: Pick<Engines, 'environment'>, random: Random): Promise<MoodyPair> {
    const cluster = await Cluster.prepare(engines, {
      LOG_LEVEL: 'warn',
      WEBHOOK_TIMEOUT: `${WEBHOOK_TIMEOUT_MS}ms`,
      WEBHOOK_RETRY_SCHEDULE: RETRIES.join(','),
    });
    const receiver = await MoodyReceiver.start(cluster.ca, random, WEBHOOK_TIMEOUT_MS);
    const pair = new MoodyPair(cluster, receiver);
    try {
      const nodes = [await cluster.add(), await cluster.add()];
      const credentials = await cluster.createClient();
      pair.apis.push(...nodes.map((node) => cluster.clientAt(credentials, node)));
      const hook = await pair.apis[0]!.call('POST', '/webhook', { url: receiver.url, events: ['*'] });
      expect(hook.status).toBe(200);
      return pair;
    } catch (error) {
      await pair.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.cluster.close();
    await this.receiver.close();
  }
}
