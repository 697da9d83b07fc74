import { either } from '../../language.ts';

const VALUES: Readonly<Record<string, string>> = {
  calculated: 'calculado',
  informed: 'informado',
  disbursed_value: 'valor desembolsado',
  acquisition_value: 'valor de aquisição',
  installment_settled: 'pagamento de parcela',
  installment_prepaid: 'pagamento antecipado',
  hold: 'esperar',
  reject: 'rejeitar',
};

/** By the names of stored fields, which never change. */
export const FIELDS: Readonly<Record<string, string>> = {
  acquisition_value: 'Valor de aquisição',
  added_at: 'Acrescentados em',
  application_id: 'Aplicação',
  approved_at: 'Aprovada em',
  calculated_at: 'Calculado em',
  calculated_value: 'Valor calculado',
  closing_event: 'Encerrada por',
  code: 'Código',
  completed_at: 'Concluída em',
  credit: 'Crédito',
  daily_factor: 'Fator diário',
  date: 'Data',
  date_issued: 'Emitida em',
  decided_at: 'Decidida em',
  decision: 'Decisão',
  difference: 'Diferença',
  digest: 'Resumo',
  disbursed_at: 'Desembolsada em',
  disbursed_value: 'Valor desembolsado',
  disbursement_date: 'Data do desembolso',
  document_id: 'Documento',
  documents: 'Documentos',
  due_date: 'Vencimento',
  effective_date: 'Com efeito em',
  excess_value: 'Excedente',
  exit_basis: 'Base das saídas',
  face_value: 'Valor de face',
  fingerprint: 'Impressão do pedido',
  first: 'Quem decidiu',
  first_decision_id: 'Primeira decisão',
  forgotten_at: 'Apagado em',
  four_eyes: 'Duas pessoas',
  fund_id: 'Fundo',
  installment_code: 'Parcela',
  installments: 'Parcelas',
  issuer: 'Provedor de identidade',
  lease_ends_at: 'Reservada até',
  late_days: 'Dias de atraso',
  lines: 'Parcela por parcela',
  message: 'Mensagem',
  name: 'Nome',
  new_proposal_code: 'Nova operação',
  note: 'Observação',
  operator: 'Operador',
  original_proposal_codes: 'Operações originais',
  outstanding_at_due: 'Devido no vencimento',
  paid_off: 'Quitada',
  partial: 'Paga em parte',
  payment_method: 'Meio de pagamento',
  payoff_value: 'Valor de quitação',
  policy: 'Regra de preço',
  prepayment_date: 'Data do pagamento',
  prepayment_value: 'Valor pago',
  present_value: 'Valor presente',
  pricing: 'Preço',
  processed_at: 'Processado em',
  product_type: 'Produto',
  reason: 'Motivo',
  reason_detail: 'Detalhe do motivo',
  reasons: 'Motivos',
  received_at: 'Recebida em',
  received_value: 'Recebido até então',
  recorded_at: 'Registrado em',
  rejected_at: 'Rejeitada em',
  remaining_balance: 'Saldo restante',
  renegotiated_at: 'Renegociada em',
  renegotiation: 'Renegociação',
  renegotiation_id: 'Renegociação',
  repurchase_value: 'Valor da saída',
  reserved_at: 'Reservada em',
  released_at: 'Liberada em',
  rule_version: 'Versão da regra',
  sandbox_disbursement: 'Desembolso pedido ao administrador do ambiente de testes',
  sandbox_outcome: 'Pedido ao administrador do ambiente de testes',
  scheduled_value: 'Valor previsto',
  second: 'Quem confirmou',
  settled_at: 'Paga em',
  settled_installments: 'Parcelas quitadas',
  settled_value: 'Valor pago',
  sha256: 'SHA-256',
  signed_at: 'Assinado em',
  size: 'Tamanho em bytes',
  status: 'Situação',
  subject: 'Pessoa no provedor',
  total_received: 'Total recebido',
  type: 'Tipo',
  value: 'Valor',
  value_source: 'Origem do valor',
};

/** In English the names of the interface, with blanks. */
const wordFor = (name: string, portuguese: Readonly<Record<string, string>>): string | undefined =>
  Object.hasOwn(portuguese, name) ? either(portuguese[name]!, name.replaceAll('_', ' ')) : undefined;

/** The name of a stored field; the name itself where a newer version stored one that this page does not know. */
export const fieldName = (name: string): string => wordFor(name, FIELDS) ?? name;

export const valueName = (value: string): string | undefined => wordFor(value, VALUES);

/** A name as it stands before a value. */
export const fieldLabel = (name: string): string => {
  const text = fieldName(name);
  return text.charAt(0).toUpperCase() + text.slice(1);
};
