import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

interface Cost {
  /** Binary logarithm of scrypt's N. */
  readonly logN: number;
  readonly r: number;
  readonly p: number;
}

/** Secrets are 256 random bits, so the cost only has to make a stolen table useless: 16 MiB and about 40 ms a try. */
const COST: Cost = { logN: 14, r: 8, p: 1 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const FORMAT = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w-]+)\$([\w-]+)$/;

/** `$scrypt$ln=14,r=8,p=1$salt$hash`, salt and hash in base64url: the cost can grow without touching older hashes. */
export const hashSecret = async (secret: string): Promise<string> => {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(secret, salt, COST);
  const cost = `ln=${COST.logN},r=${COST.r},p=${COST.p}`;
  return `$scrypt$${cost}$${salt.toString('base64url')}$${hash.toString('base64url')}`;
};

/** A hash that no secret has, as costly as any. */
export const hashOfNobody = (): string => {
  const random = (bytes: number): string => randomBytes(bytes).toString('base64url');
  return `$scrypt$ln=${COST.logN},r=${COST.r},p=${COST.p}$${random(SALT_BYTES)}$${random(HASH_BYTES)}`;
};

/** @throws Error when `hash` is not one of ours */
export const secretMatches = async (secret: string, hash: string): Promise<boolean> => {
  const parts = FORMAT.exec(hash);
  if (parts === null) throw new Error('a stored secret hash is not in a known format');
  const [, logN, r, p, salt = '', expected = ''] = parts;
  const cost = { logN: Number(logN), r: Number(r), p: Number(p) };
  const actual = await derive(secret, Buffer.from(salt, 'base64url'), cost);
  const wanted = Buffer.from(expected, 'base64url');
  return wanted.length === actual.length && timingSafeEqual(actual, wanted);
};

/** In libuv's pool, never on the main thread. */
const derive = (secret: string, salt: Buffer, { logN, r, p }: Cost): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const N = 2 ** logN;
    scrypt(secret, salt, HASH_BYTES, { N, r, p, maxmem: 256 * N * r }, (error, hash) =>
      error === null ? resolve(hash) : reject(error),
    );
  });
