/** All that is loaded with the first use of a server, behind one lazy import. */
export { abilitiesOf } from "../../acp/client.ts";
export { runMcpCommand } from "../../acp/command.ts";
export { elicitThrough } from "../../acp/elicitation.ts";
export { permissionThrough } from "../../acp/permission.ts";
export { openBrowser } from "../../auth/browser.ts";
export { createDialogs } from "../../dialogs/dialogs.ts";
export { createSession } from "../../session/create-session.ts";
export { reportServer, reportServers } from "../../session/report.ts";
export { directTools } from "../../tools/direct.ts";
export { runMcpTool } from "../../tools/mcp.ts";
export { askPerson, runMcpAuthTool } from "../../tools/mcp-auth.ts";
export { runMcpCall, runMcpLoad } from "../../tools/split.ts";
export { serverActions } from "./panel/actions.ts";
export { addServers, importServers, welcome } from "./panel/add.ts";
export { openPanel } from "./panel/open.ts";
export { signInWith } from "./panel/sign-in.ts";
export { allowProjectFiles } from "./trust.ts";
