import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readConfig, SettingError } from '../../base/settings/config.ts'
import { openTestServer, temporaryFolder } from '../../testing/test-server.ts'
import { aboutOf } from '../about.ts'

test('the operator’s name, colors, logo and legal links are on every page', async (t) => {
  const logo = join(temporaryFolder(t), 'logo.svg')
  writeFileSync(logo, '<svg xmlns="http://www.w3.org/2000/svg"/>')
  const service = await openTestServer(t, {
    settings: {
      title: 'Data of <the> town',
      logo,
      accent: '#7a1f5c',
      accentDark: '#f0a8d8',
      contactName: 'Survey office',
      contactUrl: 'mailto:survey@example.org',
      termsUrl: 'https://example.org/terms',
      privacyUrl: 'https://example.org/privacy',
      imprintUrl: 'https://example.org/imprint',
    },
  })
  for (const path of ['/docs', '/v1/ogc?f=html', '/v1/records?f=html', '/problems/not-found']) {
    const page = await service.request('GET', path)
    assert.equal(page.status, 200, path)
    for (const text of [
      'Data of &lt;the&gt; town',
      '/site/logo',
      '/site/colors.css',
      'href="mailto:survey@example.org"',
      'href="https://example.org/terms"',
      'href="https://example.org/privacy"',
      'href="https://example.org/imprint"',
    ])
      assert.ok(page.text.includes(text), `${path} has ${text}`)
  }
  const colors = await service.request('GET', '/site/colors.css')
  assert.match(colors.text, /--accent: light-dark\(#7a1f5c, #f0a8d8\)/)
  assert.match(colors.text, /--on-accent: light-dark\(#ffffff, #0c1513\)/)
  const styles = await service.request('GET', '/site/site.css')
  assert.ok(styles.text.includes('.bar') && styles.text.includes('.prose'))
  const picture = await service.request('GET', '/site/logo')
  assert.equal(picture.headers.get('content-type'), 'image/svg+xml')
  assert.match(picture.headers.get('content-security-policy')!, /sandbox/)
})

test('a color that cannot be read is refused at the start', () => {
  const read = (environment: Record<string, string>) => readConfig({ environment, file: null })
  for (const environment of [
    { WAYLEAVE_ACCENT: '#ffff00' },
    { WAYLEAVE_ACCENT: 'red' },
    { WAYLEAVE_ACCENT_DARK: '#003300' },
    { WAYLEAVE_LOGO: 'logo.exe' },
  ] as Record<string, string>[])
    assert.throws(() => read(environment), SettingError, JSON.stringify(environment))
  assert.equal(read({ WAYLEAVE_ACCENT: '#7A1F5C' }).accent, '#7a1f5c')
})

test('only a demo names its administrator, and never one that the operator has named', () => {
  const about = (flags: Record<string, unknown>, environment: Record<string, string> = {}) =>
    aboutOf(readConfig({ flags, environment, file: null }))
  const administrator = (...given: Parameters<typeof about>) => about(...given).demoAdministrator
  assert.equal(administrator({ demo: true }), 'admin@example.org')
  assert.equal(administrator({}), null)
  assert.equal(administrator({ demo: true }, { WAYLEAVE_ADMINS: 'ada@example.org' }), null)
  const showsMails = (...given: Parameters<typeof about>) => about(...given).showsMails
  assert.equal(showsMails({ demo: true }, { WAYLEAVE_ADMINS: 'ada@example.org' }), true)
  assert.equal(showsMails({ demo: true }, { WAYLEAVE_HOST: '0.0.0.0' }), false)
  assert.equal(showsMails({}), false)
})
