import { noticeChangeSchema, noticeSwitchesSchema } from '@wayleave/contract/records'
import { Type } from 'typebox'
import type { App } from '../../http/fastify-app.ts'
import { security, tags } from '../../http/openapi.ts'
import type { Authenticate } from '../access/authenticate.ts'
import type { Notices } from './notices.ts'

export interface NoticeRoutesDeps {
  notices: Notices
  authenticate: Authenticate
}

export function noticeRoutes(app: App, { notices, authenticate }: NoticeRoutesDeps): void {
  const documented = { tags: [tags.organizations], security: security.token }

  app.get('/v1/notices', {
    onRequest: authenticate.user,
    schema: {
      ...documented,
      summary: 'Which notices the caller gets by mail',
      description: '`creditLimit` is that of the organization, for members with BILLING_VIEW.',
      response: { 200: noticeSwitchesSchema },
    },
    handler: (request) => notices.switchesOf(authenticate.userOf(request)),
  })

  app.patch('/v1/notices', {
    onRequest: authenticate.user,
    schema: {
      ...documented,
      problems: ['conflict', 'permission-missing'],
      summary: 'Switch notices on or off',
      description: 'What is left out stays as it is.',
      body: noticeChangeSchema,
      response: { 200: noticeSwitchesSchema },
    },
    handler: (request) => notices.change(authenticate.userOf(request), request.body),
  })

  // A scope of its own: mail programs send a form, whose content says nothing (RFC 8058).
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, payload, done) => {
      payload.resume()
      payload.on('end', () => done(null))
      payload.on('error', done)
    })
    scope.post('/v1/notices/unsubscribe', {
      onRequest: (request, reply) => authenticate.anonymous(request, reply),
      schema: {
        tags: [tags.organizations],
        summary: 'Get no more notices of one kind',
        description:
          'With the token of a mail, without signing in. Mail programs call it too (RFC 8058), with a form that is ignored.',
        querystring: Type.Object(
          { token: Type.String({ maxLength: 600, description: 'From the link in the mail.' }) },
          { additionalProperties: false },
        ),
        response: {
          200: Type.Object({ email: Type.String(), notice: Type.String(), meaning: Type.String() }),
        },
      },
      handler: (request) => notices.unsubscribe((request.query as { token: string }).token),
    })
  })
}
