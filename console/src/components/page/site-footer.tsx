import { site } from '../../site.ts'

/** The operator's links, at the foot of every page. */
export function SiteFooter() {
  const { contact, termsUrl, privacyUrl, imprintUrl } = site
  const links: [string | null | undefined, string][] = [
    [contact?.url, contact?.name ?? 'Contact'],
    [termsUrl, 'Terms of use'],
    [privacyUrl, 'Privacy'],
    [imprintUrl, 'Legal notice'],
    ['/docs', 'Docs'],
    ['/docs/api', 'API reference'],
    ['/status', 'Status'],
  ]
  return (
    <footer className="site-foot">
      <p>
        {contact?.name && !contact.url && <span>{contact.name}</span>}
        {links.map(
          ([href, text]) =>
            href && (
              <a key={text} href={href} rel="noreferrer">
                {text}
              </a>
            ),
        )}
      </p>
    </footer>
  )
}
