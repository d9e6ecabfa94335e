/** The SDK's records in the shape of ours: the fields ours name, with their defaults. Nothing else is made equal. */

// biome-ignore lint/suspicious/noExplicitAny: these are read from the wire's own shapes, checked by the SDK.
type Wire = any;

export function tool({ name, title, description, inputSchema, outputSchema, annotations }: Wire): unknown {
  return { name, title, description, inputSchema, outputSchema, annotations: annotations ?? {} };
}

export function resource({ uri, name, title, description, mimeType, size }: Wire): unknown {
  return { uri, name, title, description, mimeType, size };
}

export function template({ uriTemplate, name, title, description, mimeType }: Wire): unknown {
  return { uriTemplate, name, title, description, mimeType };
}

export function prompt({ name, title, description, arguments: args }: Wire): unknown {
  const named = ({ name, description, required }: Wire) => ({ name, description, required: required ?? false });
  return { name, title, description, arguments: (args ?? []).map(named) };
}

export function callResult({ content, structuredContent, isError }: Wire): unknown {
  return { content: content.map(block), structuredContent, isError: isError ?? false };
}

/** An embedded resource is flat in ours. */
function block({ type, text, data, mimeType, resource, uri, name, description }: Wire): unknown {
  return type === "resource" ? { type, ...contents(resource) } : { type, text, data, mimeType, uri, name, description };
}

export function contents({ uri, mimeType, text, blob }: Wire): { uri: unknown } {
  return { uri, mimeType, text, blob } as { uri: unknown };
}

/** One block of content is a list of one in ours. */
export function promptResult({ description, messages }: Wire): unknown {
  const message = ({ role, content }: Wire) => ({ role, content: [content].flat().map(block) });
  return { description, messages: messages.map(message) };
}

export function completion({ completion: { values, total, hasMore } }: Wire): unknown {
  return { values, total, hasMore: hasMore ?? false };
}

/** Leaves out what only one side has a place for: the server's own object, and fields without a value. */
export function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value ?? null, (key, inner) => {
      if (key === "raw") return undefined;
      return typeof inner === "string" ? withoutTime(key === "blob" ? atob(inner) : inner) : inner;
    }),
  );
}

/** The everything server says when something was made. */
function withoutTime(text: string): string {
  return text.replace(/created at [\d:]+ [AP]M/, "created now");
}
