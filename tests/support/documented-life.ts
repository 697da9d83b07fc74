import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { FailingGateway } from './failing-gateway.ts';
import type { RunningService } from './running-service.ts';

const FUND = '6f1c2f0e-8f57-4f0e-9d5e-3a8a0f6f2b11';

interface Lived {
  readonly output: string;
  readonly tokens: number;
  readonly received: number;
}

/** Runs a program of the documentation in its folder, through a gateway that fails; `code` is the operation that it pays for. */
export const live = async (
  running: RunningService,
  program: readonly [string, ...string[]],
  folder: string,
  code: string,
): Promise<Lived> => {
  const credentials = await running.createClient(FUND);
  const gateway = await FailingGateway.start(running.baseUrl, ['POST /installment/settle']);
  try {
    const { stdout } = await promisify(execFile)(program[0], program.slice(1), {
      cwd: folder,
      env: {
        ...process.env,
        BASE: gateway.baseUrl,
        CLIENT_ID: credentials.client_id,
        CLIENT_SECRET: credentials.client_secret,
        FUND,
      },
    });
    const token = await fetch(`${running.baseUrl}/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: credentials.client_id,
        client_secret: credentials.client_secret,
      }),
    }).then((answer) => answer.json() as Promise<{ access_token: string }>);
    const loan = await fetch(`${running.baseUrl}/loan/${code}`, {
      headers: { authorization: `Bearer ${token.access_token}` },
    }).then((answer) => answer.json() as Promise<{ balances: { received_value: number } }>);
    return { output: stdout.trim(), tokens: gateway.tokens, received: loan.balances.received_value };
  } finally {
    await gateway.stop();
  }
};

/** What each life prints, and what its operation has received: the payment and the prepayment, once each. */
export const STATUSES = 'settled quoted prepayment_processed renegotiated repurchase_pending';
export const RECEIVED = 900 + 100;
