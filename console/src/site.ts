import type { Site } from '@wayleave/contract/records'
import { START_SECTIONS } from '@wayleave/contract/start-sections'

const UNKNOWN: Site = {
  title: 'Wayleave',
  description: '',
  headline: 'Data you can see, query and build on',
  audience: null,
  startMap: null,
  startSections: [...START_SECTIONS],
  startText: null,
  startTitles: {},
  startLinks: {},
  startKey: null,
  startDevelopers: null,
  featured: [],
  logo: null,
  contact: null,
  termsUrl: null,
  privacyUrl: null,
  imprintUrl: null,
  demoAdministrator: null,
  showsMails: false,
  sells: false,
  signIn: 'link',
}

/** What the operator says about the service. The server writes it into every page, so no request is needed. */
export const site: Site = readSite()

function readSite(): Site {
  const text = document.getElementById('site')?.textContent
  return text ? { ...UNKNOWN, ...(JSON.parse(text) as Site) } : UNKNOWN
}
