import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  isCancelTaskRequestV2,
  isGetTaskRequestV2,
  isUpdateTaskRequestV2,
} from "@modelcontextprotocol/ext-tasks/core/v2";
import { Ajv, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { Sent } from "./peer.ts";

type Definition = {
  readonly anyOf?: readonly { readonly $ref: string }[];
  readonly $ref?: string;
  readonly properties?: { readonly method?: { readonly const?: string } };
};

/** Requests of extensions, whose shape stands in no revision's schema; skills have none anywhere but in prose. */
const EXTENSIONS: Readonly<Record<string, (message: unknown) => boolean>> = {
  "tasks/get": isGetTaskRequestV2,
  "tasks/update": isUpdateTaskRequestV2,
  "tasks/cancel": isCancelTaskRequestV2,
  "skills/list": () => true,
};
const EXTENSIONS_SINCE = "2025-11-25";

/** The type of a client's answer, by the server's request. */
const ANSWER_TYPES: Readonly<Record<string, string>> = {
  ping: "EmptyResult",
  "roots/list": "ListRootsResult",
  "sampling/createMessage": "CreateMessageResult",
  "elicitation/create": "ElicitResult",
};

/** One revision's schema.json: says what is wrong with a message a client sends. */
export class RevisionSchema {
  readonly revision: string;
  readonly #ajv: Ajv;
  readonly #key: string;
  readonly #definitions: Readonly<Record<string, Definition>>;
  readonly #requests: ReadonlyMap<string, string>;
  readonly #notifications: ReadonlyMap<string, string>;

  constructor(folder: string, revision: string) {
    const schema = JSON.parse(readFileSync(join(folder, revision, "schema.json"), "utf8"));
    this.revision = revision;
    this.#key = "$defs" in schema ? "$defs" : "definitions";
    this.#definitions = schema[this.#key];
    this.#ajv = new (this.#key === "$defs" ? Ajv2020 : Ajv)({ strict: false, allErrors: true });
    // A CommonJS package whose types take it for an ES module.
    (addFormats as unknown as (ajv: Ajv) => void)(this.#ajv);
    this.#ajv.addSchema(schema, revision);
    this.#requests = this.#methodsOf("ClientRequest");
    this.#notifications = this.#methodsOf("ClientNotification");
  }

  /** Everything a client of this revision can send unasked. */
  get methods(): string[] {
    return [...this.#requests.keys(), ...this.#notifications.keys()];
  }

  problems({ message, answers }: Sent): string[] {
    if ("method" in message) {
      const isRequest = "id" in message;
      const type = (isRequest ? this.#requests : this.#notifications).get(message.method);
      const envelope = this.#check(isRequest ? "JSONRPCRequest" : "JSONRPCNotification", message);
      if (type !== undefined) return [...envelope, ...this.#check(type, message)];
      const isValid = this.revision >= EXTENSIONS_SINCE ? EXTENSIONS[message.method] : undefined;
      if (!isValid) return [...envelope, `${message.method} is nothing a client of this revision sends`];
      return isValid(message) ? envelope : [...envelope, `not as its extension has ${message.method}`];
    }
    if ("error" in message) return this.#check(this.#newest("JSONRPCErrorResponse", "JSONRPCError"), message);
    const type = ANSWER_TYPES[answers ?? ""] ?? "";
    if (!(type in this.#definitions)) return ["a result for a request this revision does not have"];
    const envelope = this.#check(this.#newest("JSONRPCResultResponse", "JSONRPCResponse"), message);
    return [...envelope, ...this.#check(type, message.result)];
  }

  #newest(...types: string[]): string {
    return types.find((type) => type in this.#definitions) ?? "";
  }

  #check(type: string, value: unknown): string[] {
    const validate = this.#ajv.getSchema(`${this.revision}#/${this.#key}/${type}`) as ValidateFunction;
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${type}${instancePath}: ${message}`);
  }

  /** Method to type, for each member of a union of types; a union of one is that type itself. */
  #methodsOf(union: string): Map<string, string> {
    const members = this.#definitions[union]?.anyOf?.map(({ $ref }) => $ref.split("/").at(-1) ?? "") ?? [union];
    return new Map(members.map((type) => [this.#definitions[type]?.properties?.method?.const ?? "", type]));
  }
}
