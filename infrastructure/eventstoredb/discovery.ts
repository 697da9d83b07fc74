import gossipGrpc from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import { Metadata } from '@grpc/grpc-js';
import type { ConnectionSettings } from './connection-string.ts';

const { LEADER } = gossip.MemberInfo.VNodeState;

/** A node that does not answer must not hold up the answers of the others for long. */
const LONGEST_ROUND_MS = 2_000;

interface Told {
  readonly leader: string | undefined;
  readonly members: readonly string[];
}

const read = (info: ClusterInfo): Told => {
  const members = info.getMembersList().flatMap((member) => {
    const at = member.getHttpEndPoint();
    return at ? [{ member, address: `${at.getAddress()}:${at.getPort()}` }] : [];
  });
  const leader = members.find(({ member }) => member.getIsAlive() && member.getState() === LEADER);
  return { leader: leader?.address, members: members.map(({ address }) => address) };
};

/** Asks nodes of a cluster who leads it. */
export class Discovery {
  readonly #settings: ConnectionSettings;
  /** Beside those of the connection string: a cluster may tell of nodes that are not named there. */
  #known: ReadonlySet<string>;

  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
    this.#known = new Set(settings.hosts);
  }

  /**
   * The address of a node that says itself that it leads; a frozen one is still named by the others. Undefined when there is none
   * now. Never rejects.
   */
  async leader(): Promise<string | undefined> {
    const asked = new Map<string, Promise<Told | undefined>>();
    const learned = new Set(this.#settings.hosts);
    return new Promise((resolve) => {
      const ask = (address: string): void => {
        if (asked.has(address)) return;
        const answer = this.#ask(address).then((told) => {
          if (!told) return told;
          for (const member of told.members) learned.add(member);
          if (told.leader === address || (told.leader !== undefined && this.#isSelf(address, told)))
            resolve(told.leader);
          else if (told.leader !== undefined) ask(told.leader);
          return told;
        });
        asked.set(address, answer);
      };
      for (const address of new Set([...this.#settings.hosts, ...this.#known])) ask(address);
      void this.#all(asked).then(() => {
        this.#known = learned;
        resolve(undefined);
      });
    });
  }

  /** A name for one or several nodes answers for itself; the nodes call themselves otherwise. */
  #isSelf(address: string, { members }: Told): boolean {
    return !members.includes(address) && members.length === 1;
  }

  async #all(asked: ReadonlyMap<string, Promise<unknown>>): Promise<void> {
    let answered = 0;
    while (answered < asked.size) {
      answered = asked.size;
      await Promise.all(asked.values());
    }
  }

  #ask(address: string): Promise<Told | undefined> {
    const { channel, gossipTimeoutMs } = this.#settings;
    const client = new gossipGrpc.GossipClient(address, channel);
    const deadline = Date.now() + Math.min(gossipTimeoutMs, LONGEST_ROUND_MS);
    return new Promise((resolve) => {
      client.read(new shared.Empty(), new Metadata(), { deadline }, (error, info) => {
        client.close();
        resolve(error ? undefined : read(info));
      });
    });
  }
}
