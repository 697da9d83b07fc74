import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Logger } from '../../../application/ports/logger.ts';

const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

const withoutZone = (address: string): string => address.split('%', 1)[0] ?? address;

/** First four of the eight groups: a customer of an IPv6 provider owns at least a /64. */
const network64 = (address: string): string => {
  const [head = '', tail] = withoutZone(address).toLowerCase().split('::', 2);
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const groups = [...left, ...Array<string>(zeros).fill('0'), ...right].slice(0, 4);
  return `${groups.map((group) => parseInt(group, 16).toString(16)).join(':')}::/64`;
};

/** One name for all addresses that one party is likely to hold: an IPv4 address, or an IPv6 network of 64 bits. */
export const addressKey = (address: string): string => {
  const ipv4 = MAPPED_IPV4.exec(address)?.[1];
  if (ipv4 !== undefined) return ipv4;
  return isIP(address) === 6 ? network64(address) : address;
};

/**
 * Address of the client. With `hops` trusted proxies in front, those proxies wrote the last `hops` entries of X-Forwarded-For;
 * entries further left may be invented by the client.
 */
export const clientAddress = (req: IncomingMessage, hops: number): string => {
  let address = req.socket.remoteAddress ?? 'unknown';
  if (hops === 0) return address;
  const forwarded = String(req.headers['x-forwarded-for'] ?? '').split(',');
  for (let hop = 0; hop < hops; hop += 1) {
    const claimed = forwarded.pop()?.trim();
    if (claimed === undefined || isIP(claimed) === 0) return address;
    address = claimed;
  }
  return address;
};

/** Warns once when requests come through a proxy although none is trusted: all clients behind it then share one address. */
export const proxyWarning = (hops: number, logger: Logger): ((req: IncomingMessage) => void) => {
  let isOver = hops > 0;
  return (req) => {
    if (isOver || req.headers['x-forwarded-for'] === undefined) return;
    isOver = true;
    logger.warn(
      {},
      'a request came with X-Forwarded-For, but TRUST_PROXY is 0: all clients behind that proxy share the rate limits of its ' +
        'address; set TRUST_PROXY to the number of proxies in front',
    );
  };
};
