import { useParams } from 'react-router'
import { useTitle } from '../../components/page/use-title.ts'
import { WebhookDetail } from '../../webhooks/webhook-detail.tsx'
import { WebhookList } from '../../webhooks/webhook-list.tsx'
import { organizationWebhooks, platformWebhooks } from '../../webhooks/webhook-queries.ts'

export function WebhooksPage() {
  useTitle('Webhooks')
  return (
    <WebhookList
      owner={organizationWebhooks}
      about="Programs of the organization are told of its keys, credits, members and datasets."
    />
  )
}

export function PlatformWebhooksPage() {
  useTitle('Webhooks')
  return (
    <WebhookList
      owner={platformWebhooks}
      about="Programs of the operator are told of the events of all organizations."
    />
  )
}

export function WebhookPage() {
  const { webhookId } = useParams()
  return <WebhookDetail owner={organizationWebhooks} id={webhookId!} />
}

export function PlatformWebhookPage() {
  const { webhookId } = useParams()
  return <WebhookDetail owner={platformWebhooks} id={webhookId!} />
}
