/**
 * JSON-RPC 2.0 as MCP narrows it: one message a body, params by name, ids that are texts or integers. Answers are put together
 * as text, because a result may hold megabytes that are serialized already.
 */
import { isEmptyOrMissing, isObject } from '../../schemas/json-object.ts'

/** The codes of refusals. Those from -32099 to -32000 are ours, the others the protocol's. */
export const rpcCodes = {
  scopeMissing: -32003,
  idempotencyConflict: -32009,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  unparsable: -32700,
} as const

export type RpcCode = (typeof rpcCodes)[keyof typeof rpcCodes]
export type RpcId = string | number
export type Params = Readonly<Record<string, unknown>>

export interface RpcRequest {
  readonly id: RpcId
  readonly method: string
  readonly params: Params
}

export type Message =
  | { readonly kind: 'request'; readonly request: RpcRequest }
  /** A notification, or the answer to a request that we never made. */
  | { readonly kind: 'unanswered' }
  /** With the id that the refusal answers to, where one can be read. */
  | { readonly kind: 'refused'; readonly id: RpcId | null; readonly reason: string }

/** Reads what a body parsed to. */
export function readMessage(value: unknown): Message {
  if (Array.isArray(value)) return { kind: 'refused', id: null, reason: 'Batches are not supported' }
  if (!isObject(value)) return { kind: 'refused', id: null, reason: 'A message must be an object' }
  const { id, method } = value
  const params = isEmptyOrMissing(value['params']) ? {} : value['params']
  const refused = (reason: string): Message => ({ kind: 'refused', id: isId(id) ? id : null, reason })
  if (value['jsonrpc'] !== '2.0') return refused('jsonrpc must be "2.0"')
  if (id !== undefined && !isId(id)) return refused('id must be a string or an integer')
  if (method === undefined && id !== undefined && isAnswer(value)) return { kind: 'unanswered' }
  if (typeof method !== 'string') return refused('method must be a string')
  if (!isObject(params)) return refused('params must be an object')
  return id === undefined ? { kind: 'unanswered' } : { kind: 'request', request: { id, method, params } }
}

/** @param result as JSON */
export function resultText(id: RpcId, result: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`
}

export function errorText(id: RpcId | null, code: RpcCode, message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })
}

/** Integers that can't be held exactly couldn't be sent back. */
function isId(id: unknown): id is RpcId {
  return typeof id === 'string' || Number.isSafeInteger(id)
}

function isAnswer(value: Params): boolean {
  return Object.hasOwn(value, 'result') !== isObject(value['error'])
}
