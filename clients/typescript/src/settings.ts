/** What happens to a request besides its first attempt; of a client for all of them, of a call for that one. */
export interface RequestOptions {
  /** Ends the call, waits and attempts included, with its reason: `AbortSignal.timeout(60_000)` bounds all of it. */
  readonly signal?: AbortSignal | undefined;
  /** Of one attempt, from its beginning to the last byte of the answer; default 30 000. */
  readonly timeoutMs?: number;
  /** Most attempts, the first included; default 6. With 1 nothing is sent again. */
  readonly attempts?: number;
  /** Where an answer asks for a longer wait than this, it is thrown instead; default 120 000. */
  readonly longestWaitMs?: number;
}

/** What only a sandbox heeds. */
export interface SandboxWishes {
  /** What its administrator does instead of approving. */
  readonly outcome?: 'reject' | 'hold';
  /** How the request fails, once for its key. */
  readonly fail?: '429' | '503' | '503-after' | 'cut' | 'cut-after';
  /** Check digits, files and dates are checked as in production. */
  readonly strict?: boolean;
  /** What its administrator disburses, such as `9900.00`. */
  readonly disburse?: string;
}

export interface CallOptions extends RequestOptions {
  readonly sandbox?: SandboxWishes;
}

/** What became of an attempt, for logs and measures. Nothing in it is secret. */
export interface AttemptReport {
  readonly operation: string;
  /** 1 for the first. */
  readonly attempt: number;
  /** Undefined where no answer came. */
  readonly status: number | undefined;
  readonly error_code: string | undefined;
  readonly request_id: string | undefined;
  /** Whether the service knew the request already, and answered it without doing it again. */
  readonly replayed: boolean;
  /** A change that the service announces: the version that brings it, and its day. */
  readonly deprecation: string | undefined;
  readonly milliseconds: number;
  /** Milliseconds until the next attempt; undefined where there is none. */
  readonly again_in: number | undefined;
}

export interface ClientSettings extends RequestOptions {
  /** Such as `https://api.example.com`. */
  readonly baseUrl: string;
  /** Base address of the token endpoint, where it is another one. */
  readonly authUrl?: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Scopes to ask for, with spaces between them; default: all that the client has. */
  readonly scope?: string;
  /** In the sandbox: how long tokens live, such as `2s`. */
  readonly sandboxTokenLifetime?: string;
  readonly onAttempt?: (report: AttemptReport) => void;
  /** Instead of Node's own, for a proxy or a test. */
  readonly fetch?: typeof globalThis.fetch;
}
