import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { durationOf } from '../../application/schemas/values.ts';
import { MIB } from '../../application/support/sized-cache.ts';

/** The message is one line and starts with the variable's name. It never holds the value of a variable that may be secret. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

const DAY_MS = 86_400_000;
const LONGEST_DAYS = 365;
const MOST_BYTES = 65_536 * MIB;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

interface DurationRange {
  /** In milliseconds. */
  readonly from: number;
  readonly longestDays?: number;
}

/** Typed reads of environment variables. A variable set to nothing but blanks counts as unset. */
export class EnvironmentReader {
  readonly #variables: Readonly<Record<string, string | undefined>>;

  constructor(variables: Readonly<Record<string, string | undefined>>) {
    this.#variables = variables;
  }

  text(name: string): string | undefined {
    const value = this.#variables[name]?.trim();
    return value === '' ? undefined : value;
  }

  invalid(name: string, what: string): ConfigurationError {
    return new ConfigurationError(`${name} ${what}`);
  }

  oneOf<Value extends string>(name: string, values: readonly Value[], fallback: Value): Value {
    const text = this.text(name) ?? fallback;
    const value = values.find((candidate) => candidate === text);
    if (value === undefined) throw this.#refuse(name, text, `one of ${values.join(', ')}`);
    return value;
  }

  /** False where nothing is said. */
  boolean(name: string): boolean {
    return this.oneOf(name, ['true', 'false'], 'false') === 'true';
  }

  integer(name: string, fallback: number, range: { readonly from: number; readonly to: number }): number {
    const text = this.text(name) ?? String(fallback);
    const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
    if (value >= range.from && value <= range.to) return value;
    throw this.#refuse(name, text, `a whole number from ${range.from} to ${range.to}`);
  }

  /** From 0 to 100, with at most two decimals. */
  percent(name: string, fallback: string): number {
    const text = this.text(name) ?? fallback;
    const value = /^\d{1,3}(\.\d{1,2})?$/.test(text) ? Number(text) : NaN;
    if (value <= 100) return value;
    throw this.#refuse(name, text, 'a number of percent from 0 to 100 with at most two decimals, such as 10');
  }

  list(name: string, fallback: string): readonly string[] {
    return (this.text(name) ?? fallback).split(',').map((item) => item.trim());
  }

  /** Written `512MiB` or `2GiB`. */
  bytes(name: string, fallback: string, least: number): number {
    const text = this.text(name) ?? fallback;
    const [, digits = '', unit = ''] = /^(\d{1,6})(MiB|GiB)$/.exec(text) ?? [];
    const value = Number(digits) * (unit === 'GiB' ? 1_024 * MIB : MIB);
    if (digits !== '' && value >= least && value <= MOST_BYTES) return value;
    throw this.#refuse(
      name,
      text,
      `a size such as 512MiB or 2GiB, ${least / MIB}MiB to ${MOST_BYTES / MIB}MiB`,
    );
  }

  /** In milliseconds. A day has 24 hours. */
  duration(name: string, fallback: string, range: DurationRange): number {
    return this.#duration(name, this.text(name) ?? fallback, range);
  }

  durations(name: string, fallback: string): readonly number[] {
    return Object.freeze(this.list(name, fallback).map((item) => this.#duration(name, item, { from: 1 })));
  }

  baseUrl(name: string, fallback: string): string {
    const text = this.text(name) ?? fallback;
    const url = URL.parse(text);
    const usable =
      url !== null &&
      /^https?:$/.test(url.protocol) &&
      !/\s/.test(text) &&
      `${url.username}${url.password}${url.search}${url.hash}` === '';
    if (!usable)
      throw this.invalid(name, 'must be an http or https address without credentials, query or fragment');
    return text.replace(/(?<!\/)\/+$/, '');
  }

  /** Of an engine; it may hold a password. */
  address(name: string, schemes: readonly string[]): string | undefined {
    const text = this.text(name);
    if (text === undefined || schemes.some((scheme) => text.startsWith(`${scheme}://`))) return text;
    throw this.invalid(name, `must start with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`);
  }

  /** What a file holds, without the line break at its end. */
  secretFile(name: string): string | undefined {
    const path = this.text(name);
    if (path === undefined) return undefined;
    const secret = this.#readFile(name, path).trim();
    if (secret === '') throw this.#refuse(name, path, 'a file that holds something');
    return secret;
  }

  /** Text of a PEM file with at least one certificate, all of them readable. */
  certificates(name: string): string | undefined {
    const path = this.text(name);
    if (path === undefined) return undefined;
    const pem = this.#readFile(name, path);
    const certificates = pem.match(CERTIFICATE) ?? [];
    if (certificates.length === 0 || !certificates.every(isCertificate)) {
      throw this.#refuse(name, path, 'a PEM file of certificates');
    }
    return pem;
  }

  #readFile(name: string, path: string): string {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      throw this.#refuse(name, path, 'a file that can be read');
    }
  }

  #duration(name: string, text: string, range: DurationRange): number {
    const { longestDays = LONGEST_DAYS } = range;
    const value = durationOf(text) ?? NaN;
    if (value >= range.from && value <= longestDays * DAY_MS) return value;
    const least = range.from === 0 ? '' : ', above zero';
    throw this.#refuse(
      name,
      text,
      `a duration such as 300ms, 30s, 2m, 1h or 1d${least}, at most ${longestDays} days`,
    );
  }

  #refuse(name: string, value: string, wanted: string): ConfigurationError {
    return this.invalid(name, `must be ${wanted}, not ${JSON.stringify(value.slice(0, 100))}`);
  }
}

const isCertificate = (pem: string): boolean => {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
};
