import { TcpProxy } from '../tcp-proxy.ts';
import { EventLog } from './event-log.ts';
import { LogFile } from './log-file.ts';
import type { Member, Membership, Role } from './membership.ts';
import { EventStoreDbStandIn } from './stand-in.ts';
import type { StandInOptions } from './stand-in.ts';

type State = 'up' | 'down' | 'stopping' | 'frozen';

interface Node {
  readonly port: number;
  readonly proxy: TcpProxy;
  server: EventStoreDbStandIn;
  state: State;
}

interface ClusterOptions {
  /** How long there is no leader after one was lost; 6 s or so in a real cluster. */
  readonly electionMs?: number;
  readonly dataDir?: string;
  readonly node?: StandInOptions;
}

const SIZE = 3;
const QUORUM = 2;

/**
 * Three nodes of the stand-in with a leader among them, each behind a proxy through which it can be frozen. They share one log:
 * copying it from node to node is not modelled, only who may append to it, who is asked and what a caller hears of that.
 */
export class StandInCluster {
  readonly log: EventLog;
  readonly #options: ClusterOptions;
  readonly #nodes: Node[] = [];
  #leader: number | undefined = 0;
  #election: NodeJS.Timeout | undefined;

  private constructor(options: ClusterOptions) {
    this.#options = options;
    this.log = new EventLog(options.dataDir === undefined ? undefined : new LogFile(options.dataDir));
  }

  static async start(options: ClusterOptions = {}): Promise<StandInCluster> {
    const cluster = new StandInCluster(options);
    for (let index = 0; index < SIZE; index++) {
      const server = await cluster.#startServer(index, 0);
      const proxy = await TcpProxy.start({ port: server.port });
      cluster.#nodes.push({ port: server.port, proxy, server, state: 'up' });
    }
    return cluster;
  }

  get url(): string {
    const hosts = this.#nodes.map(({ proxy }) => `127.0.0.1:${proxy.port}`).join(',');
    return `esdb://${hosts}?tls=false`;
  }

  get leader(): number | undefined {
    return this.#leader;
  }

  /** At once, with whatever is on its way. */
  async kill(index: number): Promise<void> {
    const node = this.#nodes[index]!;
    node.state = 'down';
    this.#lose(index);
    await node.proxy.refuse();
    await node.server.kill();
  }

  /** As for an upgrade: the leader resigns, and the node answers that it is not ready until it has gone. */
  async stop(index: number): Promise<void> {
    const node = this.#nodes[index]!;
    node.state = 'stopping';
    this.#lose(index);
    node.server.cancelAppends();
    await new Promise((resolve) => setTimeout(resolve, this.#electionMs));
    await this.kill(index);
  }

  /** Takes connections and says nothing any more; the others notice after a while. */
  freeze(index: number): void {
    const node = this.#nodes[index]!;
    node.state = 'frozen';
    node.proxy.blackhole();
    this.#lose(index);
  }

  /** Goes on with what it had received, as a follower. */
  async thaw(index: number): Promise<void> {
    const node = this.#nodes[index]!;
    node.state = 'up';
    await node.proxy.pass();
    this.#elect();
  }

  async restart(index: number): Promise<void> {
    const node = this.#nodes[index]!;
    node.server = await this.#startServer(index, node.port);
    node.state = 'up';
    await node.proxy.pass();
    if (this.#leader === undefined) this.#elect();
  }

  async close(): Promise<void> {
    clearTimeout(this.#election);
    for (const { proxy, server } of this.#nodes) {
      await proxy.close();
      await server.kill();
    }
  }

  get #electionMs(): number {
    return this.#options.electionMs ?? 6_000;
  }

  #startServer(index: number, port: number): Promise<EventStoreDbStandIn> {
    const membership = this.#membershipOf(index);
    return EventStoreDbStandIn.start({ ...this.#options.node, port, log: this.log, membership });
  }

  #membershipOf(index: number): Membership {
    return {
      role: () => this.#roleOf(index),
      leader: () => this.#members().find(({ role }) => role === 'leader'),
      members: () => this.#members(),
    };
  }

  #roleOf(index: number): Role {
    if (this.#leader === undefined || this.#nodes[index]?.state === 'stopping') return 'unready';
    return this.#leader === index ? 'leader' : 'follower';
  }

  #members(): readonly Member[] {
    return this.#nodes.map(({ proxy, state }, index) => ({
      host: '127.0.0.1',
      port: proxy.port,
      role: this.#roleOf(index),
      alive: state === 'up' || state === 'stopping',
    }));
  }

  #lose(index: number): void {
    if (this.#leader !== index && this.#leader !== undefined) return;
    this.#leader = undefined;
    this.#elect();
  }

  #elect(): void {
    if (this.#leader !== undefined) return;
    clearTimeout(this.#election);
    this.#election = setTimeout(() => {
      const up = this.#nodes.flatMap(({ state }, index) => (state === 'up' ? [index] : []));
      if (up.length >= QUORUM) this.#leader = up[Math.floor(Math.random() * up.length)];
    }, this.#electionMs);
  }
}
