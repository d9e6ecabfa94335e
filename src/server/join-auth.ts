import type { HttpAuth } from "../transport/http-auth.ts";

/** Both: those of the sign-in win, and the program is asked first what to do about a refusal. */
export function joinAuth(commanded: HttpAuth, signIn: HttpAuth | undefined): HttpAuth {
  if (!signIn) return commanded;
  return {
    headers: async (request) => ({ ...(await commanded.headers(request)), ...(await signIn.headers(request)) }),
    refused: async (refusal) => (await commanded.refused(refusal)) || signIn.refused(refusal),
  };
}
