/** The official SDK's own client, which checks each result against the schema that the list gave for it. */
import { expect, test } from 'vitest'
import { operations } from '../../api/operations/registry.ts'
import { setUpApi } from '../support/api.ts'
import { type Asker, exampleBody, madePath } from '../support/api-requests.ts'
import { connectClient, type ToolResult } from '../support/mcp.ts'

const { stores, api, mine } = setUpApi()

test('lists and calls every tool', async () => {
  const client = await connectClient(api.url, mine.apiKey)
  expect(client.getServerVersion()).toMatchObject({ name: 'svc' })
  expect(client.getInstructions()).toContain('svc.create_post')
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(operations.flatMap(({ tool }) => tool ?? []))
  const asker: Asker = { api, stores, workspaceId: mine.workspaceId, key: mine.apiKey }
  for (const operation of operations.filter(({ tool }) => tool !== undefined)) {
    const args = { ...(await madePath(operation, asker)), ...exampleBody(operation) }
    const result = (await client.callTool({ name: operation.tool!, arguments: args })) as unknown as ToolResult
    expect([operation.tool, result.isError, typeof result.structuredContent]).toEqual([
      operation.tool,
      undefined,
      'object',
    ])
  }
  await client.ping()
  await client.close()
})

test('tells refusals from answers', async () => {
  const client = await connectClient(api.url, mine.apiKey)
  await expect(client.callTool({ name: 'svc.nothing' })).rejects.toMatchObject({ code: -32602 })
  expect(await client.callTool({ name: 'svc.get_post', arguments: { post_id: 1 } })).toEqual({
    content: [{ type: 'text', text: '{"detail":"Post not found"}' }],
    isError: true,
  })
  await client.close()
  await expect(connectClient(api.url, 'svc_sk_wrong')).rejects.toThrow()
})
