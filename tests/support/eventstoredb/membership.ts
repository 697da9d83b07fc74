import * as grpc from '@grpc/grpc-js';
import { failure } from './wire.ts';

interface Address {
  readonly host: string;
  readonly port: number;
}

export interface Member extends Address {
  readonly role: Role;
  readonly alive: boolean;
}

/** `unready`: knows no leader, or is on its way out. */
export type Role = 'leader' | 'follower' | 'unready';

/** What a node knows of the cluster that it belongs to. */
export interface Membership {
  role(): Role;
  leader(): Address | undefined;
  members(): readonly Member[];
}

export const alone = (port: () => number): Membership => {
  const self = (): Address => ({ host: '127.0.0.1', port: port() });
  return {
    role: () => 'leader',
    leader: self,
    members: () => [{ ...self(), role: 'leader', alive: true }],
  };
};

const notReady = (): grpc.ServiceError => failure(grpc.status.UNAVAILABLE, 'Server Is Not Ready');

/** Why a node does not take a call now; undefined when it does. A follower passes on what need not be the leader's. */
export const refusalAt = (node: Membership, metadata: grpc.Metadata): grpc.ServiceError | undefined => {
  const role = node.role();
  if (role === 'unready') return notReady();
  const [requiresLeader] = metadata.get('requires-leader');
  if (role === 'leader' || requiresLeader?.toString() !== 'true') return undefined;
  const leader = node.leader();
  if (!leader) return notReady();
  return failure(grpc.status.NOT_FOUND, 'Leader info available', {
    exception: 'not-leader',
    'leader-endpoint-host': leader.host,
    'leader-endpoint-port': String(leader.port),
  });
};
