import type { App } from '../../../application/app.ts';
import type { Grant, Person } from '../../../application/desk/rights.ts';
import { readConfiguration } from '../../../infrastructure/composition/configuration.ts';
import { partsOf } from '../../../infrastructure/composition/container.ts';
import { openFoundations } from '../../../infrastructure/composition/foundations.ts';
import type { Foundations } from '../../../infrastructure/composition/foundations.ts';
import { assignIn } from '../../lives/assign-in.ts';
import { World } from '../../lives/world.ts';
import type { TestApplication } from '../../lives/world.ts';
import { loanRequest, smallPdf } from '../../support/api-client.ts';
import { ConsoleServer } from '../../support/console-server.ts';
import type { ConsoleAnswer } from '../../support/console-server.ts';

const BOUNDARY = 'desk-world';

type Fields = readonly (readonly [name: string, value: string])[];

interface Parts {
  readonly world: World;
  readonly application: TestApplication;
  readonly server: ConsoleServer;
  readonly foundations: Foundations;
  readonly service: App;
  readonly session: { readonly cookie: string; readonly formToken: string };
}

/** A console over a whole service, asked without a browser by one person in English. */
export class DeskWorld {
  readonly world: World;
  readonly application: TestApplication;
  readonly #parts: Parts;
  /** What the browser was given to keep, beside its session. */
  #kept: readonly string[] = [];

  private constructor(parts: Parts) {
    this.world = parts.world;
    this.application = parts.application;
    this.#parts = parts;
  }

  get service(): App {
    return this.#parts.service;
  }

  static async open(): Promise<DeskWorld> {
    const world = await World.start();
    const foundations = await openFoundations(readConfiguration(world.environment), world.logger);
    const { clock } = world;
    const service = partsOf({ ...foundations, clock });
    const server = await ConsoleServer.open({
      ...{ service, clock },
      desk: service.desk,
      realClock: foundations.realClock,
    });
    const application = await world.createApplication();
    return new DeskWorld({
      world,
      application,
      server,
      foundations,
      service,
      session: await server.enter(),
    });
  }

  async close(): Promise<void> {
    await this.#parts.server.close();
    await this.#parts.foundations.close();
    await this.world.stop();
  }

  async assign(code: string, more: object = {}, of: TestApplication = this.application): Promise<void> {
    const loan = loanRequest(this.application.funds[0]!, code, 12, more);
    await assignIn(this.world, of, { ...loan, fund_id: of.funds[0] }, smallPdf(code));
  }

  key(code: string, { applicationId } = this.application): string {
    return `${applicationId}/${code}`;
  }

  /** Somebody decides elsewhere. */
  async elsewhere(code: string, decision: string, more: object = {}): Promise<void> {
    const operation = { application_id: this.application.applicationId, originator_proposal_code: code };
    const id = `${decision}-${code}`;
    const [outcome] = await this.world.decide([
      { decision_id: id, ...operation, decision, operator: 'ana.lima', ...more },
    ]);
    if (outcome !== 'applied') throw new Error(`${id}: ${outcome}`);
    await this.world.call(this.application, { method: 'GET', path: `/loan/${code}` });
  }

  /** What is overdue is marked: a sweep of the service's own would come at some time within the second. */
  async activate(code: string, date: string, value: number): Promise<void> {
    await this.elsewhere(code, 'approve');
    await this.elsewhere(code, 'sign_term');
    await this.elsewhere(code, 'disburse', { disbursement_date: date, disbursed_value: value });
    await this.world.sweep();
    await this.world.call(this.application, { method: 'GET', path: `/loan/${code}` });
  }

  get headers(): Readonly<Record<string, string>> {
    return { cookie: [this.#parts.session.cookie, ...this.#kept].join('; '), 'accept-language': 'en' };
  }

  /** Who goes on with the session; undefined: as without sign-in. */
  become(person: Person | undefined): void {
    const { server, session } = this.#parts;
    const { cookie } = session;
    Object.assign(server.sessions.find(cookie.slice(cookie.indexOf('=') + 1), false)!, { person });
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<ConsoleAnswer> {
    return this.#parts.server.ask(path, { headers: { ...this.headers, ...headers } });
  }

  /** The page that the form leads to. */
  async post(path: string, fields: Fields): Promise<ConsoleAnswer> {
    const answer = await this.posted(path, fields);
    this.#kept = answer.headers['set-cookie']?.map((one) => one.split(';')[0]!) ?? this.#kept;
    return answer.status === 303 ? this.get(answer.headers.location!) : answer;
  }

  /** The answer to the form itself. */
  posted(path: string, fields: Fields): Promise<ConsoleAnswer> {
    return this.#parts.server.ask(path, {
      method: 'POST',
      headers: {
        ...this.headers,
        'content-type': 'application/x-www-form-urlencoded',
        'sec-fetch-site': 'same-origin',
      },
      body: new URLSearchParams([
        ['form_token', this.#parts.session.formToken],
        ...fields.map(([name, value]): [string, string] => [name, value]),
      ]).toString(),
    });
  }

  /** A form with a file. The page that it leads to. */
  async upload(
    path: string,
    fields: Fields,
    file: { readonly name: string; readonly text: string },
  ): Promise<ConsoleAnswer> {
    const { formToken } = this.#parts.session;
    const part = (disposition: string, content: string): string =>
      `--${BOUNDARY}\r\ncontent-disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`;
    const named = fields.map(([name, value]) => part(`name="${name}"`, value));
    const answer = await this.#parts.server.ask(path, {
      method: 'POST',
      headers: {
        ...this.headers,
        'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
        'sec-fetch-site': 'same-origin',
        'x-form-token': formToken,
      },
      body: `${named.join('')}${part(`name="file"; filename="${file.name}"`, file.text)}--${BOUNDARY}--\r\n`,
    });
    return answer.status === 303 ? this.get(answer.headers.location!) : answer;
  }

  async preview(decision: string, keys: readonly string[]): Promise<Form> {
    const shown = await this.post('/decisions/preview', [
      ['decision', decision],
      ...keys.map((key) => ['operation', key] as const),
    ]);
    return formIn(shown.text);
  }

  confirm(form: Form): Promise<ConsoleAnswer> {
    return this.post('/decisions/decide', form.fields);
  }
}

interface Form {
  readonly text: string;
  readonly fields: Fields;
}

const attribute = (tag: string, name: string): string =>
  new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? '';

/** The form of a preview as a browser would send it, once these fields were filled in. */
export const formIn = (text: string, typed: Readonly<Record<string, string>> = {}): Form => {
  const form = /<form method="post" action="\/decisions\/decide">.*?<\/form>/s.exec(text)?.[0] ?? '';
  const fields = [...form.matchAll(/<input[^>]*>/g)]
    .map(([tag]) => [attribute(tag, 'name'), attribute(tag, 'value')] as const)
    .filter(([name]) => name !== 'form_token')
    .map(([name, value]) => [name, typed[name] ?? value] as const);
  return { text, fields };
};

/** Words alone, as people read them. */
export const wordsOf = (text: string): string =>
  text
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('\u00a0', ' ')
    .replace(/\s+/g, ' ');

export const personWith = (...grants: readonly Grant[]): Person => ({
  ...{ issuer: 'https://id.example', subject: 'u-1', name: 'Rita' },
  grants,
});
