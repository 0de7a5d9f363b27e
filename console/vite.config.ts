import react from '@vitejs/plugin-react'
import { createLogger, defineConfig } from 'vite'
import { pack } from './scripts/pack-plugin.ts'
import { world } from './scripts/world-plugin.ts'

/** The service sends the fonts of all its pages: that they are not among the console's files is no news. */
const logger = createLogger('warn')
const { warnOnce } = logger
logger.warnOnce = (message, options) => {
  if (!message.includes('/docs/assets/')) warnOnce(message, options)
}

export default defineConfig({
  customLogger: logger,
  plugins: [react(), world(), pack()],
  resolve: { conditions: ['wayleave-source', 'module', 'browser', 'production'] },
  build: {
    target: 'es2023',
    // No file is written into another one: the pages' policy lets neither scripts nor styles stand inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The tests measure by it what a page loads.
    manifest: true,
    chunkSizeWarningLimit: 2000,
    reportCompressedSize: false,
    rolldownOptions: {
      input: ['index.html', 'embed.html'],
      checks: { bundlerTimings: false, pluginTimings: false },
    },
  },
  server: { proxy: { '/v1': 'http://127.0.0.1:8080', '/docs': 'http://127.0.0.1:8080' } },
})
