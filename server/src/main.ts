import { runProgram } from './command/program.ts'

// Every file and folder that the program or a library creates is private to its owner.
process.umask(0o077)

process.exitCode = await runProgram(process.argv.slice(2))
