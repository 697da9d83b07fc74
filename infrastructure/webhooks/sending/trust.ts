import { constants } from 'node:crypto';
import { createSecureContext, rootCertificates } from 'node:tls';
import type { SecureContext } from 'node:tls';

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
