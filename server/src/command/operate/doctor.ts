import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { readConfig, unknownVariables } from '../../base/settings/config.ts'
import type { Check } from '../../operation/doctor/check.ts'
import { type OperatorFlags, operatorCommand, print } from '../operator-command.ts'

const MARKS = { ok: 'ok', warning: 'warning', problem: 'PROBLEM' } as const

export function doctorCommand(): Command {
  return operatorCommand(
    'doctor',
    'Check what the service depends on: settings, folder, sandbox, disk, lock, database, clock, mail, Redis, proxies, descriptors. Nothing is changed.',
    ['doctor', 'doctor --json'],
  ).action(doctor)
}

async function doctor(flags: OperatorFlags): Promise<void> {
  const config = readConfig({ flags: { dataDir: flags.dataDir } })
  const { checkProxies, checkSettings } = await import('../../operation/doctor/check-settings.ts')
  const { checkDescriptors, checkDisk, checkFolder, checkLock } = await import(
    '../../operation/doctor/check-folder.ts'
  )
  const { checkSandbox } = await import('../../operation/doctor/check-sandbox.ts')
  const servers = await import('../../operation/doctor/check-servers.ts')
  const checks: (Check | null)[] = [
    ...checkSettings(config, unknownVariables()),
    ...(await checkFolder(config)),
    await checkSandbox(config),
    await checkDisk(config.dataDir),
    checkLock(config),
    await servers.checkDatabase(config, existsSync),
    await servers.checkNodes(config),
    await servers.checkClock(config, Date.now),
    await servers.checkMail(config),
    await servers.checkRedis(config),
    await servers.checkStorage(config),
    checkProxies(config),
    await checkDescriptors(),
  ]
  const data = checks.filter((check) => check !== null)
  const isWell = data.every(({ status }) => status !== 'problem')
  print(flags, { ok: isWell, data }, data.map(line).join('\n'))
  if (!isWell) process.exitCode = 1
}

function line({ name, status, message, remedy }: Check): string {
  return `${MARKS[status].padEnd(8)} ${name.padEnd(12)} ${message}${remedy ? ` ${remedy}` : ''}`
}
