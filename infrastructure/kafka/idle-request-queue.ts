import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const QUEUE = 'kafkajs/src/network/requestQueue/index.js';
const RECHECK_MS = 10;

interface RequestQueue {
  readonly pending: readonly unknown[];
  readonly throttledUntil: number;
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  checkPendingRequests(): void;
  scheduleCheckPendingRequests(): void;
}

/**
 * In kafkajs 2.2.4 every open connection looks at its queue of requests every millisecond, even when nothing waits there, and
 * Node.js warns of the negative time-out (tulios/kafkajs#1704, #1751; unmerged #1755). Here it looks only while something waits.
 */
export const quietIdleConnections = (): void => {
  const { prototype } = require(QUEUE) as { readonly prototype: RequestQueue };
  prototype.scheduleCheckPendingRequests = function (this: RequestQueue): void {
    if (this.throttleCheckTimeoutId || this.pending.length === 0) return;
    const throttledMs = this.throttledUntil - Date.now();
    this.throttleCheckTimeoutId = setTimeout(
      () => {
        this.throttleCheckTimeoutId = null;
        this.checkPendingRequests();
      },
      throttledMs > 0 ? throttledMs : RECHECK_MS,
    );
  };
};
