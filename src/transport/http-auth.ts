/** One request, before it is sent. */
export interface AuthorizedRequest {
  readonly method: string;
  readonly url: URL;
  readonly body?: string | undefined;
}

/** A request the server did not execute, because of who sent it. */
export interface AuthRefusal extends AuthorizedRequest {
  readonly status: 401 | 403;
  /** All `WWW-Authenticate` values. */
  readonly challenges: readonly string[];
  /** `DPoP-Nonce` (RFC 9449 section 9). */
  readonly nonce?: string | undefined;
  /** What `headers` gave for it. */
  readonly sent: Readonly<Record<string, string>>;
  /** Counted from 1. */
  readonly attempt: number;
  readonly signal?: AbortSignal | undefined;
}

/** Who we are for a server, beside its configured headers. All of it may reject with a TransportError. */
export interface HttpAuth {
  /** What lets a request in, names in lower case; asked anew for each, also for a repeated one. */
  headers(request: AuthorizedRequest): Promise<Readonly<Record<string, string>>>;
  /** Whether there is something new to try, with which the same request is sent again. */
  refused(refusal: AuthRefusal): Promise<boolean>;
}
