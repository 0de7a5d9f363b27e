import type { Config } from '../settings/config.ts'

/** What the operator says about the service, for landing pages and API definitions. */
export interface About {
  title: string
  description: string
  contact: { name?: string; url?: string; email?: string } | null
  termsUrl: string | null
  /** The license of the data, never that of the software. */
  license: { name: string; url?: string } | null
}

type AboutSettings = Pick<
  Config,
  'title' | 'description' | 'contactName' | 'contactUrl' | 'termsUrl' | 'license'
>

export function aboutOf(config: AboutSettings): About {
  const { title, description, contactName, contactUrl, termsUrl, license } = config
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
    contact: Object.keys(contact).length === 0 ? null : contact,
    termsUrl,
    license: license === null ? null : isAddress ? { name: license, url: license } : { name: license },
  }
}

/** The members of `info` in an OpenAPI definition that the operator decides. */
export function aboutInfo({ contact, termsUrl, license }: About) {
  return {
    ...(termsUrl === null ? {} : { termsOfService: termsUrl }),
    ...(contact === null ? {} : { contact }),
    ...(license === null ? {} : { license }),
  }
}
