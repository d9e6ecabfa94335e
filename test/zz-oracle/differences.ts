/** A place where pi-mcp and the SDK's client differ on purpose. */
export interface Difference {
  /** Names of targets, as run.ts prints them; all with such an operation when absent. */
  readonly targets?: readonly string[];
  /** Name of an operation in script.ts. */
  readonly operation: string;
  /** Where in what the operation gave; everything below it is meant too. */
  readonly path: string;
  readonly reason: string;
}

const FORM_ORDER = "a form's defaults stand before what the person filled in; an object has no order, but its text has";

export const DIFFERENCES: readonly Difference[] = [
  {
    targets: ["own stdio modern", "own http modern"],
    operation: "call log and hear the server",
    path: "heard.nothing",
    reason: "pi-mcp asks for the server's log with each request; the SDK's client leaves that to each call",
  },
  {
    operation: "call trigger-elicitation-request and hear the server",
    path: "result.content.2.text",
    reason: FORM_ORDER,
  },
  {
    operation: "call simulate-research-query and hear the server",
    path: "result.content.0.text",
    reason: "the SDK's package for tasks asks the person too, but the answer does not reach the server",
  },
  { operation: "call ask the person and hear the server", path: "result.content.0.text", reason: FORM_ORDER },
];
