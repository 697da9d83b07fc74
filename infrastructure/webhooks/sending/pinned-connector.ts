import { AsyncLocalStorage } from 'node:async_hooks';
import { constants } from 'node:crypto';
import type { LookupFunction, Socket } from 'node:net';
import { createSecureContext, rootCertificates } from 'node:tls';
import type { SecureContext } from 'node:tls';
import { buildConnector } from 'undici';
import type { Addresses } from '../addresses/address-guard.ts';

/**
 * What connections to receivers trust. Everything is spelled out, so that no environment variable or flag of the process that
 * lowers a default can lower it here. Built once: reading all roots takes milliseconds.
 * @param extraRoots PEM of further authorities, beside the public ones
 */
export const webhookTrust = (extraRoots?: string): SecureContext =>
  createSecureContext({
    ca: extraRoots === undefined ? [...rootCertificates] : [...rootCertificates, extraRoots],
    minVersion: 'TLSv1.2',
    maxVersion: 'TLSv1.3',
    ciphers: constants.defaultCoreCipherList,
  });

type Connect = (...to: Parameters<buildConnector.connector>) => Socket | undefined;

/** A connector of undici answers the socket, although its type does not say so. */
export const connector = (options: buildConnector.BuildOptions): Connect =>
  buildConnector(options) as Connect;

/** Opens TLS connections to addresses that were found before; no name is looked up while it connects. */
export class PinnedConnector {
  readonly #connect: Connect;
  readonly #addresses = new AsyncLocalStorage<Addresses | undefined>();

  constructor(options: buildConnector.BuildOptions & { readonly secureContext: SecureContext }) {
    // One for all connections, since it also remembers TLS sessions.
    this.#connect = connector({ ...options, lookup: this.#lookup });
  }

  /** Answers the socket at once: it is what must go when an attempt's time is over. */
  connect(
    addresses: Addresses | undefined,
    options: buildConnector.Options,
    callback: buildConnector.Callback,
  ): Socket | undefined {
    return this.#addresses.run(addresses, () => this.#connect(options, callback));
  }

  readonly #lookup: LookupFunction = (_hostname, { family, all }, callback) => {
    const addresses = this.#addresses.getStore() ?? [];
    const fitting = addresses.filter((one) => (family !== 4 && family !== 6) || one.family === family);
    const [first] = fitting;
    if (!first) callback(Object.assign(new Error('no address of this family'), { code: 'ENODATA' }), '', 0);
    else if (all) callback(null, [...fitting]);
    else callback(null, first.address, first.family);
  };
}
