import type { DatasetRecord, Me } from '@wayleave/contract/records'

/** Whether the user may change the dataset: an administrator, or a publisher of the organization that owns it. */
export function mayChange(me: Me | undefined, { owner }: Pick<DatasetRecord, 'owner'>): boolean {
  if (me?.administrator) return true
  return isPublisher(me) && owner !== null && owner.organizationId === me?.organization?.id
}

/** Whether the user may publish datasets of their organization. */
export function isPublisher(me: Me | undefined): boolean {
  const organization = me?.organization
  return (organization?.publishing && organization.permissions.includes('DATASET_PUBLISH')) ?? false
}
