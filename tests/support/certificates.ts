import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

x509.cryptoProvider.set(webcrypto as never);

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const SHORT_RSA = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  modulusLength: 1_024,
  publicExponent: new Uint8Array([1, 0, 1]),
};
const DAY = 86_400_000;

export interface Leaf {
  readonly key: string;
  readonly cert: string;
}

/** A private certificate authority, made without any program but Node.js. */
export interface Authority {
  /** PEM of the root, for WEBHOOK_CA_FILE. */
  readonly caPem: string;
  leaf(options?: {
    readonly names?: readonly string[];
    readonly from?: Date;
    readonly to?: Date;
    /** A key that is too short by now. */
    readonly weak?: boolean;
  }): Promise<Leaf>;
}

const keys = (weak = false): Promise<webcrypto.CryptoKeyPair> =>
  webcrypto.subtle.generateKey(weak ? SHORT_RSA : algorithm, true, ['sign', 'verify']);
const pem = async (key: webcrypto.CryptoKey): Promise<string> => {
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key));
  return `-----BEGIN PRIVATE KEY-----\n${pkcs8.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END PRIVATE KEY-----\n`;
};

export const authority = async (): Promise<Authority> => {
  const root = await keys();
  const rootCert = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=Private root',
    keys: root,
    notBefore: new Date(Date.now() - DAY),
    notAfter: new Date(Date.now() + 30 * DAY),
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
    ],
  });
  return {
    caPem: rootCert.toString('pem'),
    leaf: async ({ names = ['localhost', '127.0.0.1'], from, to, weak } = {}) => {
      const own = await keys(weak);
      const cert = await x509.X509CertificateGenerator.create({
        subject: 'CN=receiver',
        issuer: rootCert.subject,
        publicKey: own.publicKey,
        signingKey: root.privateKey,
        notBefore: from ?? new Date(Date.now() - DAY),
        notAfter: to ?? new Date(Date.now() + 10 * DAY),
        signingAlgorithm: algorithm,
        extensions: [
          new x509.SubjectAlternativeNameExtension(
            names.map((value) => ({
              type: /^[\d.]+$/.test(value) ? ('ip' as const) : ('dns' as const),
              value,
            })),
          ),
          new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        ],
      });
      return { key: await pem(own.privateKey), cert: cert.toString('pem') };
    },
  };
};
