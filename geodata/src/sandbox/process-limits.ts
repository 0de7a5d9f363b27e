/** The limits that the system enforces for a process; those of its children are the same, each for itself. */
export interface ProcessLimits {
  /** The max size of one written file, in bytes. */
  fileBytes: number
  /** The max memory that is mapped for data, in megabytes; V8 and DuckDB reserve more than they use. */
  dataMegabytes: number
  processorSeconds: number
}

const OPEN_FILES = 4096
const PROCESSES = 1024

export function prlimitCommand({ fileBytes, dataMegabytes, processorSeconds }: ProcessLimits): string[] {
  return [
    '/usr/bin/prlimit',
    `--fsize=${Math.ceil(fileBytes)}`,
    `--data=${Math.ceil(dataMegabytes) * 2 ** 20}`,
    `--cpu=${Math.ceil(processorSeconds)}`,
    `--nofile=${OPEN_FILES}`,
    `--nproc=${PROCESSES}`,
    '--core=0',
    '--',
  ]
}
