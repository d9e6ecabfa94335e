/** All that is loaded with the first use of a server, behind one lazy import. */
export { openBrowser } from "../../auth/browser.ts";
export { createDialogs } from "../../dialogs/dialogs.ts";
export { createSession } from "../../session/create-session.ts";
export { reportServer, reportServers } from "../../session/report.ts";
export { directTools } from "../../tools/direct.ts";
export { runMcpTool } from "../../tools/mcp.ts";
export { askPerson, runMcpAuthTool } from "../../tools/mcp-auth.ts";
export { fetchPrompt } from "../../tools/prompt.ts";
export { runListResources, runListResourceTemplates, runReadResource } from "../../tools/resources.ts";
export { runMcpCall, runMcpLoad } from "../../tools/split.ts";
export { serverActions } from "./panel/actions.ts";
export { addServers, importServers, welcome } from "./panel/add.ts";
export { openPanel } from "./panel/open.ts";
export { signInWith } from "./panel/sign-in.ts";
export { allowProjectFiles } from "./trust.ts";
