import { describe, expect, test } from '@jest/globals';
import { previewOf } from '../../../infrastructure/statements/statement-preview.ts';

const bank = `Banco Custodiante S.A.
Extrato da conta 1234-5

Data;Histórico;Documento;Valor;Saldo
20/06/2026;PIX RECEBIDO;OP-1/001;1.950,00 C;10.950,00
21/06/2026;TARIFA;;-12,50;10.937,50
`;

describe('the preview of a statement', () => {
  test('finds table, columns, dates and amounts of a bank in Brazil', () => {
    expect(previewOf(Buffer.from(bank))).toEqual({
      format: {
        encoding: 'utf8',
        delimiter: ';',
        skipLines: 3,
        header: true,
        dateColumn: '1',
        amountColumn: '4',
        referenceColumn: '3',
        dateFormat: 'dd/mm/yyyy',
        decimal: ',',
      },
      records: [
        ['Data', 'Histórico', 'Documento', 'Valor', 'Saldo'],
        ['20/06/2026', 'PIX RECEBIDO', 'OP-1/001', '1.950,00 C', '10.950,00'],
        ['21/06/2026', 'TARIFA', '', '-12,50', '10.937,50'],
      ],
      above: 'Banco Custodiante S.A.\nExtrato da conta 1234-5\n',
    });
  });

  test('takes the first columns of a line that is none of a table, since each of them would be drawn', () => {
    for (const text of ['a;'.repeat(30_000), `20/06/2026;1,00${';'.repeat(500)}\n`.repeat(40)]) {
      const { records, format } = previewOf(Buffer.from(text));
      expect(new Set(records.map(({ length }) => length))).toEqual(new Set([200]));
      expect(format.delimiter).toBe(';');
    }
  });

  test.each<[string, string, number]>([
    [
      'whose first lines are as wide as the table',
      'Banco;;;\nPeríodo;01/06/2026;30/06/2026;\nData;Histórico;Documento;Valor\n20/06/2026;PIX;OP-1;1.950,00\n',
      2,
    ],
    [
      'with commas between columns and before cents',
      'Banco,,,\nData,Histórico,Documento,Valor\n20/06/2026,PIX,OP-1,"1.950,00"\n21/06/2026,PIX,OP-2,"7,50"\n',
      1,
    ],
    ['without titles', 'Banco;;;\n20/06/2026;PIX;OP-1;1.950,00\n21/06/2026;PIX;OP-2;7,50\n', 1],
  ])('finds the table of a file %s, with a mark of its bytes and by Windows', (_, text, skipLines) => {
    for (const bytes of [
      Buffer.from(`\uFEFF${text}`.replaceAll('\n', '\r\n')),
      Buffer.from(text.replaceAll('\n', '\r\n'), 'latin1'),
      Buffer.from(text.replaceAll('\n', '\r\n'), 'utf16le'),
    ]) {
      const { format } = previewOf(bytes);
      expect(format).toMatchObject({ skipLines, dateColumn: '1', amountColumn: '4' });
      expect(format).toMatchObject({ dateFormat: 'dd/mm/yyyy', decimal: ',' });
    }
  });

  test.each([
    ['latin1', Buffer.from(bank, 'latin1')],
    ['utf16le', Buffer.from(`\uFEFF${bank}`, 'utf16le')],
  ])('sees that it is %s', (encoding, bytes) => {
    const { format, records } = previewOf(bytes);
    expect([format.encoding, records[0]![1]]).toEqual([encoding, 'Histórico']);
  });

  test('finds the lines where a program ended one of its own in another way', () => {
    const text = bank.replace('S.A.\n', 'S.A.\r\n');
    expect(previewOf(Buffer.from(text))).toEqual({ ...previewOf(Buffer.from(bank)) });
  });

  test('reads the plain form of the command line, also without a header', () => {
    const { format } = previewOf(Buffer.from('2026-06-20,950.00,OP-1\n2026-06-21,1234.50,OP-2\n'));
    expect(format).toMatchObject({
      header: false,
      delimiter: ',',
      dateFormat: 'yyyy-mm-dd',
      decimal: '.',
      dateColumn: '1',
      amountColumn: '2',
      referenceColumn: '3',
    });
  });

  test('cuts columns as it is told to', () => {
    const given = { encoding: 'utf8', delimiter: '|', skipLines: 1 } as const;
    const { format, records } = previewOf(Buffer.from('x\ndate|amount\n2026-06-20|1.00\n'), given);
    expect([format, records[1]]).toEqual([expect.objectContaining(given), ['2026-06-20', '1.00']]);
  });

  test.each(['', '\n\n', '"', 'a picture, no statement', '\0\0\0'])('makes something of %j', (text) => {
    expect(() => previewOf(Buffer.from(text))).not.toThrow();
  });
});
