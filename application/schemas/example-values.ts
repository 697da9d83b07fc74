export const EXAMPLE = {
  fundId: '6f1c2f0e-8f57-4f0e-9d5e-3a8a0f6f2b11',
  code: 'OP-2026-000123',
  documentId: '2d0c6a0e-51c4-4a0a-9a35-5b0d6f2f9a11',
  digest: 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9',
  received: '2026-01-15T12:00:00.000Z',
} as const;

export const exampleSchedule = [
  { code: '001', due_date: '2026-02-15', face_value: 950.0 },
  { code: '002', due_date: '2026-03-15', face_value: 950.5 },
] as const;
