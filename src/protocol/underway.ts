import { TransportError } from "../transport/transport.ts";

/**
 * Runs what follows the first answer to a request: further rounds, looks at its task. The server has taken the request on,
 * so whatever is lost from now on, it has begun: how far a later message got says nothing of it.
 */
export async function underway<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    const { failure, message, http } = error;
    throw new TransportError(failure, message, "begun", { cause: error, ...(http && { http }) });
  }
}
