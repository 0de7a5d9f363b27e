import type { TestContext } from 'node:test'

const stacks = new WeakMap<TestContext, (() => unknown)[]>()

/** Runs after the test, in reverse order: a server is stopped before its database is dropped. */
export function cleanUp(t: TestContext, work: () => unknown): void {
  const existingStack = stacks.get(t)
  if (existingStack) {
    existingStack.push(work)
    return
  }
  const stack = [work]
  stacks.set(t, stack)
  t.after(async () => {
    // Each is removed, because the runner keeps this function: otherwise all servers of a process stay in memory.
    for (let undo = stack.pop(); undo; undo = stack.pop()) await undo()
  })
}
