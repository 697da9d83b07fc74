import { createSocket } from 'node:dgram';
import type { Socket } from 'node:dgram';
import { once } from 'node:events';

interface Answer {
  readonly a?: readonly string[];
  readonly aaaa?: readonly string[];
  /** Other names that this one stands for, one after the other; the addresses are the last one's. */
  readonly cnames?: readonly string[];
  readonly afterMs?: number;
}
/** What a name is answered with. */
type Zone = 'silence' | 'no such name' | 'failure' | Answer;

const TYPE = { a: 1, cname: 5, aaaa: 28 } as const;
const HEADER_BYTES = 12;

const labels = (name: string): Buffer =>
  Buffer.concat([
    ...name.split('.').flatMap((label) => [Buffer.from([label.length]), Buffer.from(label, 'latin1')]),
    Buffer.from([0]),
  ]);

const record = (name: string, type: number, data: Buffer): Buffer => {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt32BE(60, 4);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([labels(name), fixed, data]);
};

const ipv4 = (address: string): Buffer => Buffer.from(address.split('.').map(Number));
const ipv6 = (address: string): Buffer => {
  const [head = '', tail = ''] = address.split('::');
  const groups = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((group) => parseInt(group, 16));
  const [left, right] = [groups(head), groups(tail)];
  const all = [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 255]));
};

/** A name server on loopback that answers over UDP what it is told to, or nothing at all. */
export class DnsServer {
  /** Names in lower case; a name that is not here does not exist. */
  readonly zones = new Map<string, Zone>();
  /** Every question, as `name type`. */
  readonly questions: string[] = [];
  readonly address: string;
  readonly #socket: Socket;
  readonly #timers = new Set<NodeJS.Timeout>();

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.address = `127.0.0.1:${socket.address().port}`;
    socket.on('message', (query, { port, address }) => this.#receive(query, port, address));
  }

  static async start(zones: Readonly<Record<string, Zone>> = {}): Promise<DnsServer> {
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const server = new DnsServer(socket);
    for (const [name, zone] of Object.entries(zones)) server.zones.set(name, zone);
    return server;
  }

  /** How often a name was asked for, whatever the type. */
  asked(name: string): number {
    return this.questions.filter((question) => question.startsWith(`${name} `)).length;
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#socket.close();
    await once(this.#socket, 'close');
  }

  #receive(query: Buffer, port: number, address: string): void {
    const parts: string[] = [];
    let at = HEADER_BYTES;
    for (let length = query[at]!; length > 0; length = query[at]!) {
      parts.push(query.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const name = parts.join('.').toLowerCase();
    const type = query.readUInt16BE(at + 1);
    this.questions.push(`${name} ${type === TYPE.aaaa ? 'AAAA' : 'A'}`);
    const zone = this.zones.get(name) ?? 'no such name';
    if (zone === 'silence') return;
    const answer = this.#answer(query.subarray(0, at + 5), parts.join('.'), type, zone);
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        this.#socket.send(answer, port, address);
      },
      typeof zone === 'object' ? (zone.afterMs ?? 0) : 0,
    );
    this.#timers.add(timer);
  }

  #answer(question: Buffer, name: string, type: number, zone: Exclude<Zone, 'silence'>): Buffer {
    const records = typeof zone === 'string' ? [] : recordsOf(name, type, zone);
    const head = Buffer.from(question);
    const code = zone === 'no such name' ? 3 : zone === 'failure' ? 2 : 0;
    head.writeUInt16BE(0x8180 | code, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    head.writeUInt32BE(0, 8);
    return Buffer.concat([head, ...records]);
  }
}

const recordsOf = (name: string, type: number, { a = [], aaaa = [], cnames = [] }: Answer): Buffer[] => {
  const chain = [name, ...cnames];
  const aliases = cnames.map((target, index) => record(chain[index]!, TYPE.cname, labels(target)));
  const last = chain.at(-1)!;
  const addresses =
    type === TYPE.aaaa
      ? aaaa.map((address) => record(last, TYPE.aaaa, ipv6(address)))
      : a.map((address) => record(last, TYPE.a, ipv4(address)));
  return [...aliases, ...addresses];
};
