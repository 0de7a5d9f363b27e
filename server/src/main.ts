import { runProgram } from './command/program.ts'

// Every file and folder that the program or a library creates is private to its owner.
process.umask(0o077)

// The reader of a pipe may close it early, as `head` does. The command goes on, because it may be changing something.
for (const output of [process.stdout, process.stderr]) {
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
}

process.exitCode = await runProgram(process.argv.slice(2))
