import type { ExtensionContext as CurrentContext, ExtensionAPI as CurrentPi } from "@earendil-works/pi-coding-agent";
import type { ExtensionAPI as OldestPi } from "pi-0.73";
import type { PiCommandContext, PiMcpServersApi, PiModelContext, PiToolRendererApi } from "../../src/hosts/pi/api.ts";
import piMcp from "../../src/hosts/pi/extension.ts";

// Checked by the compiler, never run: what the extension asks of pi is there, in this shape, in both hosts.
piMcp satisfies (pi: CurrentPi) => void;
piMcp satisfies (pi: OldestPi) => void;

/** What is asked for only where it is there. */
type Newer = CurrentPi extends PiMcpServersApi ? true : never;
true satisfies Newer;

type Drawing = CurrentPi extends PiToolRendererApi ? true : never;
true satisfies Drawing;

type Asking = CurrentContext extends PiModelContext ? true : never;
true satisfies Asking;

type CommandContext<Pi extends CurrentPi | OldestPi> = Parameters<Parameters<Pi["registerCommand"]>[1]["handler"]>[1];
type Commanding = CommandContext<CurrentPi> | CommandContext<OldestPi> extends PiCommandContext ? true : never;
true satisfies Commanding;
