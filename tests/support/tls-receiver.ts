import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { webcrypto } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import type { Leaf } from './certificates.ts';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY = 86_400_000;

/** A self-signed certificate for localhost. */
export const selfSigned = async (): Promise<Leaf> => {
  x509.cryptoProvider.set(webcrypto as never);
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const cert = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=localhost',
    keys,
    notBefore: new Date(Date.now() - DAY),
    notAfter: new Date(Date.now() + DAY),
    signingAlgorithm: algorithm,
    extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'localhost' }])],
  });
  const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  return {
    key: `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n`,
    cert: cert.toString('pem'),
  };
};

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** As it stood on the wire. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** Which connection it came over; 1 is the first. */
  readonly connection: number;
}

export type Answer = (response: ServerResponse, request: ReceivedRequest, socket: Socket) => void;

export const answer =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(status, headers).end();

/** A TLS receiver that does what it is told to, however ill-mannered. */
export class TlsReceiver {
  readonly requests: ReceivedRequest[] = [];
  answer: Answer = answer(200);
  connections = 0;
  readonly url: string;
  readonly port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    this.url = `https://localhost:${this.port}/hooks?tenant=a%20b`;
  }

  static async start(options: TlsOptions): Promise<TlsReceiver> {
    const server = createHttpsServer(options);
    server.keepAliveTimeout = 60_000;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const receiver = new TlsReceiver(server);
    const numbers = new WeakMap<Socket, number>();
    receiver.#track(server);
    server.on('secureConnection', (socket: Socket) => {
      numbers.set(socket, ++receiver.connections);
      socket.on('error', () => undefined);
    });
    server.on('request', (request, response) =>
      receiver.#receive(request, response, numbers.get(request.socket)!),
    );
    return receiver;
  }

  /** Takes connections and drops their bytes: for what goes wrong before HTTP. */
  static async startTcp(onConnection: (socket: Socket) => void): Promise<TlsReceiver> {
    const server = createTcpServer(onConnection).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const receiver = new TlsReceiver(server);
    receiver.#track(server);
    return receiver;
  }

  #track(server: Server): void {
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => this.#sockets.delete(socket));
    });
  }

  #receive(request: IncomingMessage, response: ServerResponse, connection: number): void {
    const chunks: Buffer[] = [];
    response.on('error', () => undefined);
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const received = {
        method: request.method!,
        path: request.url!,
        headers: request.headers,
        rawHeaders: request.rawHeaders,
        body: Buffer.concat(chunks),
        connection,
      };
      this.requests.push(received);
      this.answer(response, received, request.socket);
    });
  }

  /** Cuts every connection, as a restarting receiver does. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.#server.close();
    this.cut();
    if (this.#server.listening) await once(this.#server, 'close');
  }
}
