/** A borrower none of whose data is anywhere else, so that each place where it lies is found. */
export const BORROWER = {
  document_number: '11144477735',
  document_type: 'CPF',
  name: 'Tarsila Quintanilha',
  birth_date: '1985-03-12',
  email: 'tarsila.q@example.com',
  phone: '+5511977776666',
  address: {
    ...{ zip_code: '01310100', street: 'Rua Alvarenga Peixoto', number: '7' },
    ...{ city: 'Sao Paulo', state: 'SP' },
  },
};
