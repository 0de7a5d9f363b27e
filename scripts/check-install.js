/** Runs after `npm ci`. Plain JavaScript, because an older Node may run it. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
requireCurrentNode()
nameUnchecked()

/** npm runs this on the Node that it has just installed, if there is one for the platform. */
function requireCurrentNode() {
  const { platform, arch, versions } = process
  if (Number(versions.node.split('.')[0]) >= 24) return
  console.error(
    `Node 24 or newer is needed. npm installs it on Linux on x64 and arm64; this is Node ${versions.node} on ${platform} on ${arch}. Install Node 24 and run npm ci again.`,
  )
  process.exit(1)
}

/** The lock file has no hash of packages for platforms that its registry lacked. */
function nameUnchecked() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const unchecked = Object.keys(packages).filter((path) => {
    const { integrity, link } = packages[path]
    return path.startsWith('node_modules/') && !integrity && !link && existsSync(join(root, path))
  })
  if (unchecked.length > 0)
    console.warn(
      `Installed without a comparison with a hash, because the lock file has none of this platform: ${unchecked.join(', ')}. \`npm run lock\` adds those that your registry knows.`,
    )
}
