/** The default is for versions from before: to read all of them again and compare them would take hours. */
export function versionChanges(): string[] {
  return [
    `alter table versions add column changes text not null default 'null'`,
    `create index versions_uncompared on versions (created_at) where changes = ''`,
    'create index ledger_version on ledger (organization_id, table_name, version)',
  ]
}
