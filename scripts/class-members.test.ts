import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type ClassMember, type Module, parseSync } from '@swc/core'
import { needs } from './test-run/needs.ts'

needs('time')

const root = join(import.meta.dirname, '..')
/** The members of the client's classes are for its users. */
const isChecked = (file: string) => !/^client-js\/|\.test(-kit)?\.ts$|\/(test-[^/]*|testing\/.*)$/.test(file)

interface Node {
  type?: string
  [key: string]: unknown
}

/** Calls `visit` for every node of a syntax tree. */
function walk(node: unknown, visit: (node: Node) => void): void {
  if (node === null || typeof node !== 'object') return
  if (Array.isArray(node)) {
    for (const member of node) walk(member, visit)
    return
  }
  visit(node as Node)
  for (const value of Object.values(node)) walk(value, visit)
}

/** The names that a file imports from packages: who implements such an interface is called by the package. */
function importedFromPackages({ body }: Module): Set<string> {
  const imports = body.filter((item) => item.type === 'ImportDeclaration')
  const foreign = imports.filter(({ source }) => !source.value.startsWith('.'))
  return new Set(foreign.flatMap(({ specifiers }) => specifiers.map(({ local }) => local.value)))
}

function declaredIn(module: Module): string[] {
  const foreign = importedFromPackages(module)
  const names: string[] = []
  walk(module.body, (node) => {
    if (node.type !== 'ClassDeclaration' && node.type !== 'ClassExpression') return
    const contracts = node['implements'] as { expression: { value?: string } }[]
    if (contracts.some(({ expression }) => foreign.has(expression.value ?? ''))) return
    for (const member of node['body'] as ClassMember[]) {
      if (member.type !== 'ClassMethod' && member.type !== 'ClassProperty') continue
      if (member.key.type === 'Identifier' && !member.isOverride) names.push(member.key.value)
    }
  })
  return names
}

function usedIn(module: Module, used: Set<string>): void {
  walk(module.body, (node) => {
    if (node.type === 'StringLiteral') used.add(node['value'] as string)
    const key =
      node.type === 'MemberExpression'
        ? node['property']
        : node.type === 'KeyValuePatternProperty' || node.type === 'AssignmentPatternProperty'
          ? node['key']
          : null
    if (key) used.add((key as { value: string }).value)
  })
}

// By name, so a member that has the same name as another one in use is not found.
test('every public member of a class is used', () => {
  const files = execFileSync('git', ['ls-files', '*.ts', '*.tsx'], { cwd: root })
    .toString()
    .trim()
    .split('\n')
  const used = new Set<string>()
  const declared: { file: string; name: string }[] = []
  for (const file of files.filter((name) => existsSync(join(root, name)))) {
    const source = readFileSync(join(root, file), 'utf8')
    const module = parseSync(source, { syntax: 'typescript', tsx: file.endsWith('.tsx') })
    usedIn(module, used)
    if (isChecked(file)) for (const name of declaredIn(module)) declared.push({ file, name })
  }
  assert.ok(declared.length > 1000, `${declared.length} members`)
  const unused = declared.filter(({ name }) => !used.has(name)).map(({ file, name }) => `${file}: ${name}`)
  assert.deepEqual(unused, [])
})
