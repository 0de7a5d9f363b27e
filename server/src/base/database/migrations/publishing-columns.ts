/** What the publisher fixed about a dataset, drafts, and versions that reuse the snapshot of an earlier one. */
export function publishingColumns(): string[] {
  return [
    'alter table datasets add column publishing_schema text',
    'alter table versions add column draft text',
    'alter table versions add column reused_snapshot text',
  ]
}
