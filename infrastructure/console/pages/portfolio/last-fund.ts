import { LRUCache } from 'lru-cache';
import type { Visit } from '../../page.ts';

const MOST_SESSIONS = 1_000;

/** By session, which fund was looked at last. */
const last = new LRUCache<string, string>({ max: MOST_SESSIONS });

export const rememberFund = ({ formToken }: Visit, fund: string): void => void last.set(formToken, fund);

export const lastFund = ({ formToken }: Visit): string | undefined => last.get(formToken);
