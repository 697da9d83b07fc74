import { randomUUID } from 'node:crypto';
import * as grpc from '@grpc/grpc-js';
import { ServerFeaturesService } from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js';
import { StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { Empty } from '@eventstore/db-client/generated/shared_pb.js';
import { GossipService } from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import type {
  DeleteReq,
  DeleteResp,
  TombstoneReq,
  TombstoneResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { freePort } from '../service-process.ts';
import { handleAppend, handleBatchAppend } from './appends.ts';
import { EventLog } from './event-log.ts';
import { Faults } from './faults.ts';
import { LogFile } from './log-file.ts';
import type { ReadCall } from './reads.ts';
import { handleRead } from './reads.ts';
import { AllSubscription } from './subscriptions.ts';
import type { Member, Membership, Role } from './membership.ts';
import { alone, refusalAt } from './membership.ts';
import type { SizeRule } from './wire.ts';
import { failure, streamOf, uuidOf } from './wire.ts';

export interface StandInOptions {
  /** Default: any free one. */
  readonly port?: number;
  /** Where the log outlives the process; without one it is in memory. */
  readonly dataDir?: string;
  /** A log in memory that outlives this server, to start another one on it. */
  readonly log?: EventLog;
  readonly credentials?: grpc.ServerCredentials;
  /** What counts towards the limit of an append. */
  readonly sizeRule?: SizeRule;
  /** Default: one node, which leads. */
  readonly membership?: Membership;
}

const announced = (): SupportedMethods =>
  new features.SupportedMethods().setEventStoreServerVersion('23.10.0-stand-in').setMethodsList(
    Object.values(StreamsService as unknown as Record<string, { path: string }>).map(({ path }) => {
      const [, service = '', method = ''] = path.split('/');
      return new features.SupportedMethod().setMethodName(method.toLowerCase()).setServiceName(service);
    }),
  );

const STATES: Readonly<Record<Role, number>> = {
  leader: gossip.MemberInfo.VNodeState.LEADER,
  follower: gossip.MemberInfo.VNodeState.FOLLOWER,
  unready: gossip.MemberInfo.VNodeState.UNKNOWN,
};

const clusterInfo = (members: readonly Member[]): ClusterInfo =>
  new gossip.ClusterInfo().setMembersList(
    members.map(({ host, port, role, alive }) =>
      new gossip.MemberInfo()
        .setInstanceId(uuidOf(randomUUID()))
        .setTimeStamp(String(Date.now() * 10_000))
        .setState(STATES[role])
        .setIsAlive(alive)
        .setHttpEndPoint(new gossip.EndPoint().setAddress(host).setPort(port)),
    ),
  );

/**
 * Stands in for EventStoreDB where no real server can be installed: speaks its gRPC protocol for streams, subscriptions to $all
 * and server features, gossip, with its rule for repeated appends and its errors. No access rules, nothing else.
 */
export class EventStoreDbStandIn {
  readonly log: EventLog;
  readonly faults = new Faults();
  #port = 0;
  readonly #server: grpc.Server;
  readonly #file: LogFile | undefined;
  readonly #subscriptions = new Set<AllSubscription>();

  readonly #node: Membership;
  readonly #sizeRule: SizeRule;
  #appends = new AbortController();

  private constructor(
    server: grpc.Server,
    log: EventLog,
    file: LogFile | undefined,
    { membership, sizeRule = 'data' }: StandInOptions,
  ) {
    this.#server = server;
    this.log = log;
    this.#file = file;
    this.#node = membership ?? alone(() => this.port);
    this.#sizeRule = sizeRule;
    this.#addServices();
  }

  static async start(options: StandInOptions = {}): Promise<EventStoreDbStandIn> {
    const file = options.dataDir === undefined ? undefined : new LogFile(options.dataDir);
    const server = new grpc.Server({ 'grpc.max_receive_message_length': 17 * 1024 * 1024 });
    const log = options.log ?? new EventLog(file);
    const standIn = new EventStoreDbStandIn(server, log, file, options);
    const address = `127.0.0.1:${options.port ?? (await freePort())}`;
    const credentials = options.credentials ?? grpc.ServerCredentials.createInsecure();
    standIn.#port = await new Promise<number>((resolve, reject) => {
      server.bindAsync(address, credentials, (error, bound) => (error ? reject(error) : resolve(bound)));
    });
    return standIn;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `esdb://127.0.0.1:${this.port}?tls=false`;
  }

  /** Subscriptions that are open here, whatever the clients believe. */
  get openSubscriptions(): number {
    return this.#subscriptions.size;
  }

  /** Ends all subscriptions as a server does that shuts down in order: without an error, or with one. */
  dropSubscriptions(error?: grpc.ServiceError): void {
    for (const subscription of this.#subscriptions) subscription.drop(error);
  }

  /** What is on its way is answered with a cancellation, whatever becomes of it, and subscriptions with the end. */
  cancelAppends(): void {
    this.#appends.abort();
    this.#appends = new AbortController();
    this.dropSubscriptions(failure(grpc.status.CANCELLED, 'Request canceled by server'));
  }

  /** Asks clients to come no more and takes no new connections, as a server does that was told to stop; what is on its way goes on. */
  beginStop(): void {
    this.#server.tryShutdown(() => undefined);
  }

  /** Closes every connection at once, with whatever is on its way. */
  async kill(): Promise<void> {
    for (const subscription of this.#subscriptions) subscription.leave();
    this.#server.forceShutdown();
    this.#file?.close();
    await new Promise(setImmediate);
  }

  #addServices(): void {
    const setting = {
      log: this.log,
      faults: this.faults,
      node: this.#node,
      sizeRule: this.#sizeRule,
      cancelled: () => this.#appends.signal,
    };
    const read = { ...StreamsService.read, responseSerialize: (answer: Buffer) => answer };
    this.#server.addService(
      { ...StreamsService, read },
      {
        append: handleAppend(setting),
        batchAppend: handleBatchAppend(setting),
        read: (call: ReadCall) => void this.#read(call),
        delete: (call: grpc.ServerUnaryCall<DeleteReq, DeleteResp>, answer: grpc.sendUnaryData<DeleteResp>) =>
          void this.log
            .delete(streamOf(call.request.getOptions()))
            .then(() => answer(null, new streams.DeleteResp())),
        tombstone: (
          call: grpc.ServerUnaryCall<TombstoneReq, TombstoneResp>,
          answer: grpc.sendUnaryData<TombstoneResp>,
        ) =>
          void this.log
            .tombstone(streamOf(call.request.getOptions()))
            .then(() => answer(null, new streams.TombstoneResp())),
      },
    );
    this.#server.addService(GossipService, {
      read: (call: grpc.ServerUnaryCall<Empty, ClusterInfo>, answer: grpc.sendUnaryData<ClusterInfo>) => {
        this.faults.seen('Gossip', call);
        answer(null, clusterInfo(this.#node.members()));
      },
    });
    this.#server.addService(ServerFeaturesService, {
      getSupportedMethods: (
        call: grpc.ServerUnaryCall<Empty, SupportedMethods>,
        answer: grpc.sendUnaryData<SupportedMethods>,
      ) => {
        this.faults.seen('GetSupportedMethods', call);
        if (this.faults.features === 'unanswered') return;
        if (this.faults.features === 'failing') answer(failure(grpc.status.INTERNAL, 'injected'));
        else answer(null, announced());
      },
    });
  }

  async #read(call: ReadCall): Promise<void> {
    const refusal = refusalAt(this.#node, call.metadata);
    if (refusal) return void call.emit('error', refusal);
    if (!call.request.getOptions()?.hasSubscription()) return handleRead(this.log, this.faults, call);
    const subscription = new AllSubscription(this.log, this.faults, call);
    this.#subscriptions.add(subscription);
    try {
      await subscription.run();
    } finally {
      this.#subscriptions.delete(subscription);
    }
  }
}
