import type { JsonObject, ToolDefinition } from "../../protocol/types.ts";
import type { ServerFacts } from "./fields.ts";

/** A tool by its name, what it says, and its parameters with what they say; `*` at the end: required. */
export function toolOf(
  name: string,
  description: string,
  parameters: Readonly<Record<string, unknown>> = {},
): ToolDefinition {
  const properties: Record<string, unknown> = {};
  const required: string[] = [];
  for (const [key, value] of Object.entries(parameters)) {
    const parameter = key.endsWith("*") ? key.slice(0, -1) : key;
    if (parameter !== key) required.push(parameter);
    properties[parameter] = typeof value === "string" ? { type: "string", description: value } : value;
  }
  const inputSchema: JsonObject = { type: "object", properties, required };
  return { name, description, inputSchema, annotations: {}, raw: {} };
}

/** A made-up household of servers, of the kinds people have. */
export const CATALOGUE: readonly (readonly [ServerFacts, readonly ToolDefinition[]])[] = [
  [
    { name: "tracker", description: "Issues and boards of a software team." },
    [
      toolOf("create_issue", "Create an issue in a project.", { "title*": "Title", body: "Text", labels: "Labels" }),
      toolOf("list_issues", "List the issues of a project, newest first.", { state: { enum: ["open", "closed"] } }),
      toolOf("close_issue", "Close an issue.", { "number*": "Number of the issue" }),
      toolOf("addComment", "Comment on an issue.", { "number*": "Number of the issue", "text*": "Text" }),
      toolOf("get_board", "The columns of a board and their cards.", { "board*": "Name of the board" }),
    ],
  ],
  [
    { name: "post", description: "Electronic mail." },
    [
      toolOf("send_message", "Send an email to one or more people.", { "to*": "Addresses", "subject*": "Subject" }),
      toolOf("search_messages", "Search the mailbox.", { "query*": "Words to look for" }),
      toolOf("get_attachment", "Download an attachment of a message.", { "id*": "Which attachment" }),
    ],
  ],
  [
    { name: "diary", description: "Appointments in a calendar." },
    [
      toolOf("create_event", "Put an event into the calendar.", { "start*": "When it begins", attendees: "Who comes" }),
      toolOf("list_events", "Events between two days.", { from: "First day", to: "Last day" }),
      toolOf("free_slots", "Find times when everybody is free.", { attendees: "Who has to be free" }),
    ],
  ],
  [
    { name: "disk", description: "Files of this computer." },
    [
      toolOf("read_file", "Read a text file.", { "path*": "Where the file is" }),
      toolOf("write_file", "Create a file or replace its content.", { "path*": "Where", "content*": "What" }),
      toolOf("list_directory", "List files and folders of a directory.", { "path*": "Which directory" }),
      toolOf("delete_file", "Delete a file.", { "path*": "Where the file is" }),
    ],
  ],
  [
    { name: "surf", description: "Drives a web browser." },
    [
      toolOf("surf_open", "Open a web page in the browser.", { "url*": "Address of the page" }),
      toolOf("surf_click", "Click an element of the page.", { "selector*": "CSS selector" }),
      toolOf("surf_frame_click", "Click an element inside a frame of the page.", { "selector*": "CSS selector" }),
      toolOf("surf_screenshot", "Take a screenshot of the page.", { fullPage: { type: "boolean" } }),
    ],
  ],
  [
    { name: "plots", description: "Draws charts." },
    [
      toolOf("bar_chart", "Generate a bar chart from rows of numbers.", { "rows*": { type: "array" } }),
      toolOf("pie_chart", "Generate a pie chart from rows of numbers.", { "rows*": { type: "array" } }),
      toolOf("line_chart", "Generate a line chart from rows of numbers.", { "rows*": { type: "array" } }),
      toolOf("area_chart", "Generate an area chart from rows of numbers.", { "rows*": { type: "array" } }),
      toolOf("radar_chart", "Generate a radar chart from rows of numbers.", { "rows*": { type: "array" } }),
      toolOf("heat_map", "Generate a heat map chart from rows of numbers.", { "rows*": { type: "array" } }),
    ],
  ],
  [
    { name: "tianqi", description: "天气服务" },
    [
      toolOf("forecast", "查询城市未来几天的天气预报", { "city*": "城市名称" }),
      toolOf("air", "查询城市的空气质量", { "city*": "城市名称" }),
    ],
  ],
];
