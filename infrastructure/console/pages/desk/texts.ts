import type { DeskAction, DeskOutcome, DeskWay } from '../../../../domain/desk/line.ts';
import { inLanguages } from '../../language.ts';
import type { Both } from '../../language.ts';

export const texts = inLanguages({
  title: ['Registro', 'Desk log'],
  intro: [
    'Quem viu e fez o quê: no console, na linha de comando e no tópico de decisões. O mais novo vem primeiro. Dados de tomadores e o que foi digitado não entram aqui.',
    'Who saw and did what: at the console, on the command line and on the topic of decisions. The newest comes first. Nothing of a borrower and nothing that was typed is in it.',
  ],
  subject: ['Pessoa (subject)', 'Person (subject)'],
  nothing: ['Não há registro.', 'Nothing is recorded.'],
  whatComes: [
    'Cada página vista, cada decisão e cada ajuste vira uma linha aqui; um filtro pode escondê-la.',
    'Each page that is seen, each decision and each setting becomes a line here; a filter may hide it.',
  ],
  at: ['Quando', 'When'],
  who: ['Quem', 'Who'],
  way: ['Por onde', 'Way in'],
  action: ['Ação', 'Action'],
  older: ['Mais antigos', 'Older ones'],
  badDay: [
    'Desde: informe uma data que existe, como 20/06/2026.',
    'Since: give a date that exists, such as 20/06/2026.',
  ],
  ways: {
    console: ['console', 'console'],
    command_line: ['linha de comando', 'command line'],
    topic: ['tópico', 'topic'],
  } satisfies Record<DeskWay, Both>,
  actions: {
    signed_in: ['entrou', 'signed in'],
    signed_out: ['saiu', 'signed out'],
    refused: ['foi recusado', 'was refused'],
    viewed: ['viu', 'viewed'],
    listed: ['listou', 'listed'],
    searched: ['buscou', 'searched'],
    downloaded: ['abriu documento', 'opened a document'],
    exported: ['exportou', 'exported'],
    decided: ['decidiu', 'decided'],
    confirmed: ['confirmou', 'confirmed'],
    withdrawn: ['retirou', 'withdrew'],
    configured: ['configurou', 'configured'],
  } satisfies Record<DeskAction, Both>,
  outcomes: {
    done: ['feito', 'done'],
    applied: ['efetivado', 'carried out'],
    already_applied: ['já estava efetivado', 'was carried out before'],
    awaiting_confirmation: ['à espera de outra pessoa', 'awaits another person'],
    refused: ['recusado', 'refused'],
    failed: ['falhou', 'failed'],
  } satisfies Record<DeskOutcome, Both>,
});
