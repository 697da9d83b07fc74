import { readFile } from 'node:fs/promises';
import type { Schema } from '../../../application/schemas/schema.ts';
import type { PublicAddresses } from './operation.ts';

/** Versions before the present one, oldest first. A release adds the description that it replaces to `released/`. */
export const RELEASED_VERSIONS = ['2026.11.0', '2026.11.1', '2026.11.2', '2026.11.3', '2026.11.4'] as const;

/** Stand in the files where the addresses of a service go. */
export const PLACEHOLDERS = {
  publicUrl: 'https://public-url.invalid',
  authUrl: 'https://auth-url.invalid',
} as const;

/** The description as that version served it, with these addresses. @param version one of RELEASED_VERSIONS */
export const releasedDescription = async (
  version: string,
  { publicUrl, authUrl }: PublicAddresses,
): Promise<Schema> => {
  const text = await readFile(new URL(`./released/${version}.json`, import.meta.url), 'utf8');
  return JSON.parse(
    text.replaceAll(PLACEHOLDERS.publicUrl, publicUrl).replaceAll(PLACEHOLDERS.authUrl, authUrl),
  ) as Schema;
};
