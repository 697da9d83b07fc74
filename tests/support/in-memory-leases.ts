import type { Lease, Leases } from '../../application/coordination/leases.ts';

interface Row {
  holder: string;
  token: number;
  until: number;
}

/** Leases of one process; their parts can be broken one by one. */
export class InMemoryLeases implements Leases {
  readonly rows = new Map<string, Row>();
  protected readonly now: () => number;

  constructor(now = () => performance.now()) {
    this.now = now;
  }

  acquire(name: string, holder: string, ttlMs: number): Promise<Lease | undefined> {
    const row = this.rows.get(name);
    if (row && this.lasts(row) && row.holder !== holder) {
      row.until = Math.min(row.until, this.now() + ttlMs);
      return Promise.resolve(undefined);
    }
    const token = this.nextToken(row);
    this.rows.set(name, { holder, token, until: this.now() + ttlMs });
    return Promise.resolve({ name, holder, token });
  }

  renew(lease: Lease, ttlMs: number): Promise<boolean> {
    const row = this.rows.get(lease.name);
    if (!row || !this.isOf(row, lease) || !this.lasts(row)) return Promise.resolve(false);
    row.until = this.now() + ttlMs;
    return Promise.resolve(true);
  }

  release(lease: Lease): Promise<void> {
    const row = this.rows.get(lease.name);
    if (row && this.isOf(row, lease)) row.until = 0;
    return Promise.resolve();
  }

  protected lasts(row: Row): boolean {
    return row.until > this.now();
  }
  protected isOf(row: Row, lease: Lease): boolean {
    return row.token === lease.token;
  }
  protected nextToken(row: Row | undefined): number {
    return (row?.token ?? 0) + 1;
  }
}

export class GivesToEverybody extends InMemoryLeases {
  override acquire(name: string, holder: string, ttlMs: number): Promise<Lease | undefined> {
    this.rows.delete(name);
    return super.acquire(name, holder, ttlMs);
  }
}

export class LooksBeforeItLeaps extends InMemoryLeases {
  override async acquire(name: string, holder: string, ttlMs: number): Promise<Lease | undefined> {
    const row = this.rows.get(name);
    if (row && this.lasts(row) && row.holder !== holder) return undefined;
    await Promise.resolve();
    this.rows.set(name, { holder, token: this.nextToken(row), until: this.now() + ttlMs });
    return { name, holder, token: this.nextToken(row) };
  }
}

export class NeverEnds extends InMemoryLeases {
  protected override lasts(row: Row): boolean {
    return row.until > 0;
  }
}

export class RepeatsTokens extends InMemoryLeases {
  protected override nextToken(): number {
    return 1;
  }
}

export class KnowsNoTokens extends InMemoryLeases {
  protected override isOf(): boolean {
    return true;
  }
}

export class RenewsWhatEnded extends InMemoryLeases {
  override renew(lease: Lease, ttlMs: number): Promise<boolean> {
    const row = this.rows.get(lease.name);
    if (!row || !this.isOf(row, lease)) return Promise.resolve(false);
    row.until = this.now() + ttlMs;
    return Promise.resolve(true);
  }
}

export class ForgetsRenewals extends InMemoryLeases {
  override renew(lease: Lease): Promise<boolean> {
    const row = this.rows.get(lease.name);
    return Promise.resolve(row !== undefined && this.isOf(row, lease) && this.lasts(row));
  }
}

export class KeepsWhatWasGivenBack extends InMemoryLeases {
  override release(): Promise<void> {
    return Promise.resolve();
  }
}

export class HasOneLease extends InMemoryLeases {
  override acquire(_name: string, holder: string, ttlMs: number): Promise<Lease | undefined> {
    return super.acquire('the only one', holder, ttlMs);
  }
}
