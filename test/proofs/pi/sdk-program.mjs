/**
 * A program that uses pi as a library: a few sessions one after the other, each of which starts a server and is then dropped
 * without a word. `sdk-program.mjs <module of the host> <extension> <folder> <milliseconds to live on>`
 */
const [module, extension, cwd, liveMs] = process.argv.slice(2);
const { createAgentSession, DefaultResourceLoader, SessionManager, SettingsManager } = await import(module);
const agentDir = process.env.PI_CODING_AGENT_DIR;
for (let round = 0; round < 3; round++) {
  const settingsManager = SettingsManager.inMemory({});
  const only = { noSkills: true, noPromptTemplates: true, noThemes: true, noContextFiles: true };
  const options = { cwd, agentDir, settingsManager, additionalExtensionPaths: [extension], ...only };
  const resourceLoader = new DefaultResourceLoader(options);
  await resourceLoader.reload();
  const sessionManager = SessionManager.inMemory(cwd);
  const { session } = await createAgentSession({ cwd, agentDir, resourceLoader, settingsManager, sessionManager });
  await session.bindExtensions({});
  await session.prompt("/mcp reconnect s");
  session.dispose();
}
console.log("dropped");
if (liveMs !== "0") setTimeout(() => console.log("ends"), Number(liveMs));
