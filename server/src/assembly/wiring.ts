import type { Logger } from 'pino'
import { checkPaymentSettings } from '../accounts/billing/billing.ts'
import type { Clock } from '../base/clock.ts'
import { newId } from '../base/id.ts'
import { checkMailSettings } from '../base/mail/mailer.ts'
import type { Config } from '../base/settings/config.ts'
import { isFirst, type ThreadPlace } from '../base/threads/thread-place.ts'
import { jobLimits, kindsOf, requirePossibleRole } from '../data/jobs/job-limits.ts'
import { Closers } from './closers.ts'
import { type ControlPlane, openControlPlane } from './control-plane.ts'
import { type AccountParts, openAccounts } from './open-accounts.ts'
import { type AssistantParts, openAssistants } from './open-assistants.ts'
import { type BaseParts, openBase } from './open-base.ts'
import {
  type CatalogParts,
  type DownloadParts,
  type JobParts,
  openCatalog,
  openDownloads,
  openInstallation,
  openJobs,
} from './open-data.ts'
import { openFeatures } from './open-features.ts'
import { type HttpParts, openHttp } from './open-http.ts'
import { type OgcParts, openOgc } from './open-ogc.ts'
import { type OperationParts, openOperation } from './open-operation.ts'
import type { Opening } from './opening.ts'

/** All parts of the service, wing by wing. The command line opens them too, without serving. */
export interface Parts
  extends HttpParts,
    ControlPlane,
    BaseParts,
    AccountParts,
    CatalogParts,
    JobParts,
    OgcParts,
    AssistantParts,
    DownloadParts,
    OperationParts {
  config: Config
  log: Logger
  clock: Clock
  nodeId: string
  /** Of several threads that serve; undefined if one does. */
  thread: ThreadPlace | undefined
  close: () => Promise<void>
}

export async function openParts(opening: Opening): Promise<Parts> {
  const opened = new Closers(opening.log)
  try {
    return await wire(opening, opened)
  } catch (error) {
    // Parts that are open already would keep the process alive after a failed start.
    await opened.close().catch(() => {})
    throw error
  }
}

/**
 * Everything closable is registered where it is created, by `opened.use`; `requireAll` checks this. A stop closes in
 * the reverse order, so the order of these lines matters.
 */
async function wire(opening: Opening, opened: Closers): Promise<Parts> {
  const { config, log, clock, serving, thread } = opening
  if (serving) {
    checkMailSettings(config)
    checkPaymentSettings(config)
    requirePossibleRole(config)
  }
  const nodeId = newId('node')
  const processKinds = kindsOf(jobLimits(config, serving))
  // One thread runs the jobs of the process; the others are API nodes in this respect.
  const limits = jobLimits(config, serving && isFirst(thread))
  const http = openHttp(opening, opened)
  const control = await openControlPlane({ ...opening, nodeId, opened, jobKinds: kindsOf(limits) })
  // Must be first: everything after it may change what is stored according to the database.
  const storage = await openInstallation({ ...opening, ...control }, opened)
  const base = await openBase(opening, opened)
  const accounts = await openAccounts({ ...opening, ...http, ...control, ...base }, opened)
  const assistants = await openAssistants({ ...opening, ...control })
  const catalog = openCatalog({ ...opening, ...control, ...storage }, opened)
  const data = { ...opening, ...control, ...catalog, nodeId, limits, processKinds }
  const features = await openFeatures(data, opened)
  // After the queries on features: a stop ends jobs first.
  const jobs = openJobs({ ...data, ...http, mailer: accounts.identity.mailer }, opened)
  const ogc = openOgc({ ...data, ...jobs, ...features, ...base }, opened)
  const downloads = openDownloads({ ...data, ...accounts, ...jobs, ...ogc }, opened)
  const operation = await openOperation(
    { ...opening, ...http, ...accounts, ...catalog, ...jobs, control },
    opened,
  )
  const parts = {
    ...http,
    ...control,
    ...base,
    ...accounts,
    ...assistants,
    ...catalog,
    ...jobs,
    ...ogc,
    ...downloads,
    ...operation,
    config,
    log,
    clock,
    nodeId,
    thread,
  }
  opened.requireAll(parts)
  return { ...parts, close: () => opened.close() }
}
