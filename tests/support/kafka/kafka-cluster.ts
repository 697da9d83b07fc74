import { withAdmin } from '../../../infrastructure/kafka/kafka-client.ts';
import { freePort } from '../service-process.ts';
import { only } from './each-broker.ts';
import { KafkaBroker } from './kafka-broker.ts';
import { until } from '../within.ts';

/** Three real brokers that are controllers as well, so that one of them may be away. */
export class KafkaCluster {
  readonly nodes: readonly KafkaBroker[];

  private constructor(nodes: readonly KafkaBroker[]) {
    this.nodes = nodes;
  }

  /** @param started so many of them; two are a majority */
  static async start(started = 3): Promise<KafkaCluster> {
    const controllers = [await freePort(), await freePort(), await freePort()];
    const nodes: KafkaBroker[] = [];
    for (const [n] of controllers.entries())
      nodes.push(await KafkaBroker.ofCluster({ node: n + 1, controllers }));
    const cluster = new KafkaCluster(nodes);
    try {
      await Promise.all(nodes.slice(0, started).map((node) => node.start()));
    } catch (error) {
      await cluster.close();
      throw error;
    }
    return cluster;
  }

  /** Bootstrap addresses as clients should use them. */
  get brokers(): readonly string[] {
    return this.nodes.map(({ brokers }) => brokers);
  }

  /** Resolves when every broker says that all copies of every partition are in step, so that another one may be away. */
  async whole(ms = 120_000): Promise<void> {
    const inStep = async (broker: string): Promise<boolean> => {
      const { topics } = await withAdmin(only(broker), (admin) => admin.fetchTopicMetadata());
      return topics.every(({ partitions }) =>
        partitions.every(({ isr, replicas }) => isr.length === replicas.length),
      );
    };
    const all = async (): Promise<boolean> => (await Promise.all(this.brokers.map(inStep))).every(Boolean);
    await until(all, 'all copies are in step', ms);
  }

  async close(): Promise<void> {
    for (const node of this.nodes) node.thaw();
    await Promise.all(this.nodes.map((node) => node.kill()));
  }
}
