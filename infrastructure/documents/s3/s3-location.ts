/** Where documents lie in an S3-compatible storage, and who we are there. */
export interface S3Location {
  /** Address of the bucket, path style, with the prefix; no slash at the end. */
  readonly base: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

const DEFAULT_REGION = 'us-east-1';

/**
 * Reads `https://KEY:SECRET@host[:port]/bucket[/prefix][?region=...]`, both credentials percent-encoded.
 * @returns undefined for anything else; what is wrong is not told apart, because the text holds a secret
 */
export const parseS3Url = (text: string): S3Location | undefined => {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hash !== '') return undefined;
  const path = url.pathname.replace(/(?<!\/)\/+$/, '');
  if (url.username === '' || url.password === '' || path === '' || path.includes('//')) return undefined;
  for (const name of url.searchParams.keys()) if (name !== 'region') return undefined;
  try {
    return {
      base: `${url.origin}${path}`,
      region: url.searchParams.get('region') ?? DEFAULT_REGION,
      accessKeyId: decodeURIComponent(url.username),
      secretAccessKey: decodeURIComponent(url.password),
    };
  } catch {
    return undefined;
  }
};
