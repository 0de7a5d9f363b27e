import type { Site } from '@wayleave/contract/records'
import { type Config, DEMO_ADMINISTRATOR, isLocalDemo } from '../base/settings/config.ts'

/** What the operator says about the service, for its pages, its landing pages and API definitions. */
export interface About extends Omit<Site, 'contact'> {
  contact: { name?: string; url?: string; email?: string } | null
  /** The license of the data, never that of the software. */
  license: { name: string; url?: string } | null
}

type AboutSettings = Pick<
  Config,
  | 'title'
  | 'description'
  | 'contactName'
  | 'contactUrl'
  | 'termsUrl'
  | 'license'
  | 'headline'
  | 'audience'
  | 'startMap'
  | 'startSections'
  | 'startText'
  | 'startTitles'
  | 'startLinks'
  | 'startKey'
  | 'startDevelopers'
  | 'featured'
  | 'logo'
  | 'privacyUrl'
  | 'imprintUrl'
  | 'demo'
  | 'host'
  | 'admins'
  | 'payments'
  | 'signIn'
>

const USUAL_LINKS = { 'Browse all datasets': '/datasets', 'See what you can build': '/docs/gallery' }

export function aboutOf(config: AboutSettings): About {
  const { title, description, contactName, contactUrl, termsUrl, license, startText, featured } = config
  const mail = contactUrl?.startsWith('mailto:') ? contactUrl.slice('mailto:'.length).split('?', 1)[0]! : null
  const contact = {
    ...(contactName === null ? {} : { name: contactName }),
    ...(mail === null ? {} : { email: decodeURIComponent(mail) }),
    ...(mail === null && contactUrl !== null ? { url: contactUrl } : {}),
  }
  const isAddress = license !== null && /^https?:\/\//.test(license)
  return {
    title,
    description,
    headline: config.headline,
    audience: config.audience,
    startMap: config.startMap,
    startSections: config.startSections,
    startText,
    startTitles: config.startTitles ?? {},
    startLinks: config.startLinks ?? USUAL_LINKS,
    startKey: config.startKey,
    startDevelopers: config.startDevelopers,
    featured,
    logo: config.logo === null ? null : '/site/logo',
    contact: Object.keys(contact).length === 0 ? null : contact,
    termsUrl,
    privacyUrl: config.privacyUrl,
    imprintUrl: config.imprintUrl,
    // Addresses that the operator has named are not public.
    demoAdministrator: config.demo && config.admins.includes(DEMO_ADMINISTRATOR) ? DEMO_ADMINISTRATOR : null,
    showsMails: isLocalDemo(config),
    sells: config.payments.length > 0,
    signIn: config.signIn,
    license: license === null ? null : isAddress ? { name: license, url: license } : { name: license },
  }
}

/** What the console needs to know of the service before it asks for anything. */
export function siteRecord(about: About): Site {
  const { contact, license: _, ...site } = about
  const url = contact?.url ?? (contact?.email === undefined ? null : `mailto:${contact.email}`)
  return { ...site, contact: contact === null ? null : { name: contact.name ?? null, url } }
}

/** The members of `info` in an OpenAPI definition that the operator decides. */
export function aboutInfo({ contact, termsUrl, license }: About) {
  return {
    ...(termsUrl === null ? {} : { termsOfService: termsUrl }),
    ...(contact === null ? {} : { contact }),
    ...(license === null ? {} : { license }),
  }
}
