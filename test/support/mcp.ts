/** Asks `/mcp` as the contract says it is asked, and by the SDK's own client. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { TestApi } from './api.ts'

/** Exactly the contract's four headers. */
export function mcpHeaders(key: string): Record<string, string> {
  return {
    Authorization: `Bearer ${key}`,
    'Content-Type': 'application/json',
    Accept: 'application/json',
    'MCP-Protocol-Version': '2025-11-25',
  }
}

export interface RpcAnswer {
  readonly jsonrpc: '2.0'
  readonly id: number | string | null
  readonly result?: Record<string, unknown>
  readonly error?: { readonly code: number; readonly message: string }
}

interface ToolResult {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[]
  readonly structuredContent?: Record<string, unknown>
  readonly isError?: boolean
}

export function post(
  api: Pick<TestApi, 'ask'>,
  key: string,
  body: unknown,
  headers: Record<string, string> = {},
  toolset?: string,
): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return api.ask(toolset === undefined ? '/mcp' : `/mcp?toolsets=${toolset}`, {
    method: 'POST',
    headers: { ...mcpHeaders(key), ...headers },
    body: text,
  })
}

export async function request(
  api: Pick<TestApi, 'ask'>,
  key: string,
  method: string,
  params?: unknown,
): Promise<RpcAnswer> {
  const response = await post(api, key, { jsonrpc: '2.0', id: 1, method, ...(params !== undefined && { params }) })
  return (await response.json()) as RpcAnswer
}

export interface ToolAnswer {
  readonly status: number
  readonly headers: Headers
  readonly result: ToolResult | undefined
  readonly error: RpcAnswer['error']
}

export async function callTool(
  api: Pick<TestApi, 'ask'>,
  key: string,
  name: string,
  args: Readonly<Record<string, unknown>> = {},
  headers: Record<string, string> = {},
  toolset?: string,
): Promise<ToolAnswer> {
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
  const response = await post(api, key, body, headers, toolset)
  const answer = (await response.json()) as RpcAnswer
  const result = answer.result as ToolResult | undefined
  return { status: response.status, headers: response.headers, result, error: answer.error }
}

export async function connectClient(url: string, key: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  const requestInit = { headers: { Authorization: `Bearer ${key}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }) as never)
  return client
}
