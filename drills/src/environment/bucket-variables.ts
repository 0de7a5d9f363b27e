import { randomBytes } from 'node:crypto'

/** The settings of a new place in the bucket of the tests, for a server of the run. */
export function bucketVariables(): Record<string, string> {
  const { WAYLEAVE_TEST_S3_URL: endpoint, AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = process.env
  if (!endpoint || !id || !secret) throw new Error('WAYLEAVE_TEST_S3_URL and its credentials are not set.')
  return {
    WAYLEAVE_STORAGE_URL: `s3://wayleave/drill-${randomBytes(8).toString('hex')}`,
    WAYLEAVE_S3_ENDPOINT: endpoint,
    AWS_ACCESS_KEY_ID: id,
    AWS_SECRET_ACCESS_KEY: secret,
  }
}
