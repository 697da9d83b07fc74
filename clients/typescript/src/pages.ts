import { pause } from './waiting.ts';

interface CursorPage<Entry> {
  readonly data: readonly Entry[];
  readonly next_cursor: string | null;
}

/** Every entry of a list, page by page, from the cursor if there is one. */
export async function* throughPages<Entry>(
  read: (cursor: string | null | undefined) => Promise<CursorPage<Entry>>,
  from: string | null | undefined,
): AsyncGenerator<Entry, void, undefined> {
  for (let cursor = from; ;) {
    const { data, next_cursor } = await read(cursor);
    yield* data;
    if (next_cursor === null) return;
    cursor = next_cursor;
  }
}

interface FeedPage<Event> {
  readonly data: readonly Event[];
  readonly next_after: string | null;
  readonly has_more: boolean;
}

export interface FollowOptions {
  /** Milliseconds between two looks once there is nothing new; default 5 000. */
  readonly pauseMs?: number;
}

/** What a feed holds behind an event, to its end; followed, also what comes later, until its signal ends it. */
export async function* throughFeed<Event>(
  read: (after: string | null | undefined) => Promise<FeedPage<Event>>,
  from: string | null | undefined,
  follow?: FollowOptions & { readonly signal?: AbortSignal | undefined },
): AsyncGenerator<Event, void, undefined> {
  for (let after = from; ;) {
    const { data, next_after, has_more } = await read(after);
    yield* data;
    after = next_after ?? after;
    if (has_more) continue;
    if (!follow) return;
    await pause(follow.pauseMs ?? 5_000, follow.signal);
  }
}
