/** A route as data: from it come the handler, the authorisation, the validation and the OpenAPI document. */
import { z } from 'zod';
import { describeZodError } from '../../../config/contracts/errors.js';
import type { Runtime } from '../../runtime.js';
import type { ApiCounters } from '../counters.js';
import type { Caller, Scope } from '../types.js';
import { refused } from './errors.js';

/** What handlers work with besides the request. */
export interface RouteServices {
  runtime: Runtime;
  counters: ApiCounters;
  secret(bytes: number): string;
  /** A fresh console address, or null without TCP. */
  consoleAddress(): { url: string; expiresAtMs: number } | null;
  /** The OpenAPI document of the whole API. */
  document(): Promise<object>;
}

export interface RouteRequest<P, Q, B> {
  params: P;
  query: Q;
  body: B;
  caller: Caller;
  services: RouteServices;
  header(name: string): string | undefined;
}

/** `text` is sent as it is with its type; otherwise `body` as JSON. */
export interface RouteReply {
  status: number;
  body?: unknown;
  text?: string;
  type?: string;
  headers?: Readonly<Record<string, string>>;
}

export interface RouteResponse {
  description: string;
  schema?: z.ZodType;
  /** Default `application/json`. */
  type?: string;
}

export interface Route<P = unknown, Q = unknown, B = unknown> {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** OpenAPI spelling: `/api/tasks/{id}`. */
  path: string;
  tag: string;
  summary: string;
  scope: Scope;
  params?: z.ZodType<P>;
  query?: z.ZodType<Q>;
  body?: z.ZodType<B>;
  /** Answered although the daemon is not ready yet. */
  early?: true;
  responses: Readonly<Record<number, RouteResponse>>;
  handle(request: RouteRequest<P, Q, B>): Promise<RouteReply> | RouteReply;
}

/** Erases the types of a route so that all of them stand in one list; `handle` gets what the schemas parsed. */
export function defineRoute<P, Q, B>(route: Route<P, Q, B>): Route {
  return route as unknown as Route;
}

/** Validates one part of a request. `where` stands in front of the message: body, query or path. */
export function validated<T>(schema: z.ZodType<T> | undefined, value: unknown, where: string): T {
  const result = (schema ?? NOTHING).safeParse(value);
  if (result.success) return result.data as T;
  const { field, message } = describeZodError(result.error, value);
  // A field of a body is named as the cloud names it.
  const said = where === 'body' && field !== '' ? message : `${where}: ${message}`;
  throw refused('INVALID_PARAMS', said, field === '' ? where : field);
}

/** Routes without a schema take nothing; an empty object counts as nothing. */
const NOTHING = z.strictObject({}).optional();

/** A whole number in a query string. */
export function intParam(min: number, max: number): z.ZodType<number> {
  return z
    .string()
    .regex(/^-?\d{1,15}$/, 'allowed is a whole number')
    .transform(Number)
    .pipe(z.int().min(min, `allowed is ${min} to ${max}`).max(max, `allowed is ${min} to ${max}`));
}

/** `true` or `false` in a query string. */
export function boolParam(): z.ZodType<boolean> {
  return z
    .enum(['true', 'false'], 'allowed is true or false')
    .transform((text) => text === 'true')
    .pipe(z.boolean());
}

export const idParams = z.strictObject({ id: z.string().min(1).max(200) });
