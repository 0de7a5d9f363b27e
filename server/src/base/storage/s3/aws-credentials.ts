import type { CredentialSource } from './s3-signer.ts'

/**
 * The credentials that the AWS tools would use: the AWS_* variables, the profiles in ~/.aws, a role of the
 * container or the instance. They are fetched when they are first needed and renewed before they expire. The
 * package is loaded then too, because it takes longer than the rest of the S3 client.
 */
export function awsCredentials(): CredentialSource {
  let provider: Promise<CredentialSource> | null = null
  return async () => {
    provider ??= import('@aws-sdk/credential-provider-node').then(({ defaultProvider }) => defaultProvider())
    return (await provider)()
  }
}
