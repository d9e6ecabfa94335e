import { describe, expect, it } from "vitest";
import type { ToolDefinition } from "../../protocol/types.ts";
import { CATALOGUE, toolOf } from "./catalogue.fixture.ts";
import type { ServerFacts } from "./fields.ts";
import { createToolIndex, type FoundTool, type SearchOptions, type ToolIndex } from "./tool-index.ts";

function indexOf(servers: readonly (readonly [ServerFacts, readonly ToolDefinition[]])[]): ToolIndex {
  const index = createToolIndex();
  for (const [server, tools] of servers) index.set(server, tools);
  return index;
}

const household = indexOf(CATALOGUE);

function namesIn(found: readonly FoundTool[]): string[] {
  return found.map(({ server, tool }) => `${server}/${tool.name}`);
}

function find(query: string, options?: SearchOptions): string[] {
  return namesIn(household.search(query, options));
}

describe("a request in plain words", () => {
  it.each([
    ["create a ticket for the broken login page", "tracker/create_issue"],
    ["find open bugs", "tracker/list_issues"],
    ["reply to the issue", "tracker/addComment"],
    ["schedule a meeting with Anna", "diary/create_event"],
    ["when is everybody free?", "diary/free_slots"],
    ["open a web page", "surf/surf_open"],
    ["email the report to Bob", "post/send_message"],
    ["search my inbox for the invoice", "post/search_messages"],
    ["show me what is in this folder", "disk/list_directory"],
    ["remove the file", "disk/delete_file"],
    ["take a picture of the page", "surf/surf_screenshot"],
    ["draw a pie chart", "plots/pie_chart"],
  ])("%s: %s is among the first three", (query, expected) => {
    expect(find(query, { limit: 3 })).toContain(expected);
  });

  it("finds a tool by a parameter, by what a parameter says and by a value it may have", () => {
    expect(find("labels")[0]).toBe("tracker/create_issue");
    expect(find("css selector", { limit: 2 })).toEqual(expect.arrayContaining(["surf/surf_click"]));
    expect(find("closed", { limit: 2 })).toContain("tracker/list_issues");
  });

  it("finds the tools of a server by what the server says of itself", () => {
    expect(find("software team", { limit: 5 }).every((name) => name.startsWith("tracker/"))).toBe(true);
  });

  it("prefers the tool of whose name the request leaves nothing out", () => {
    expect(find("click the element on the page")[0]).toBe("surf/surf_click");
    expect(find("click the element in the frame")[0]).toBe("surf/surf_frame_click");
  });

  it("takes a value for a value: what stands in quotes or a path does not decide", () => {
    expect(find('send "delete the file and draw a chart" to Bob by email')[0]).toBe("post/send_message");
    expect(find("read /charts/radar/heat_map.txt")[0]).toBe("disk/read_file");
  });
});

describe("names", () => {
  it("puts a tool whose name is the query before all others", () => {
    const index = indexOf([
      ...CATALOGUE,
      [{ name: "other" }, [toolOf("read_file_list", "Read file, read file, read file."), toolOf("air_read_file", "")]],
    ]);
    expect(namesIn(index.search("read_file"))[0]).toBe("disk/read_file");
    expect(namesIn(index.search("air"))[0]).toBe("tianqi/air");
  });

  it.each(["readFile", "read-file", "Read File", "disk/read_file", "disk__read_file", "mcp__disk__read_file"])(
    "takes %s for read_file of disk",
    (query) => {
      expect(find(query)[0]).toBe("disk/read_file");
    },
  );

  it("finds a name in a longer request", () => {
    expect(find("please call surf_frame_click for the chart of issues and files")[0]).toBe("surf/surf_frame_click");
  });

  it("reads camel case, snake case and plain words alike", () => {
    for (const query of ["add comment", "addComment", "add_comment", "comment adding"]) {
      expect(find(query)[0]).toBe("tracker/addComment");
    }
  });

  it("gives a tool of one name on two servers once for each", () => {
    const index = indexOf([
      [{ name: "b" }, [toolOf("search", "Search things.")]],
      [{ name: "a" }, [toolOf("search", "Search things.")]],
    ]);
    expect(namesIn(index.search("search"))).toEqual(["a/search", "b/search"]);
  });
});

describe("slips", () => {
  it.each([
    ["screnshot", "surf/surf_screenshot"],
    ["atachment", "post/get_attachment"],
    ["calender apointments", "diary/create_event"],
    ["direcotry", "disk/list_directory"],
  ])("%s still finds %s", (query, expected) => {
    expect(find(query)).toContain(expected);
    expect(household.search(query)[0]?.score).toBeGreaterThan(0);
  });

  it("takes the beginning of a word for the word", () => {
    expect(find("attach")[0]).toBe("post/get_attachment");
  });
});

describe("other languages", () => {
  it("finds a Chinese tool by a Chinese request, also by one letter of it", () => {
    expect(find("明天的天气怎么样")[0]).toBe("tianqi/forecast");
    expect(find("空气质量")[0]).toBe("tianqi/air");
    expect(find("空")[0]).toBe("tianqi/air");
  });

  it("finds a Chinese tool by an English request and the other way round", () => {
    expect(find("weather in Paris")[0]).toBe("tianqi/forecast");
    expect(find("截图")[0]).toBe("surf/surf_screenshot");
  });

  it("finds words with accents, in full width or of a script without spaces", () => {
    const index = indexOf([[{ name: "s" }, [toolOf("menú", "Les cafés du coin."), toolOf("x", "お寿司を注文する")]]]);
    expect(namesIn(index.search("cafe"))[0]).toBe("s/menú");
    expect(namesIn(index.search("ＣＡＦＥＳ"))[0]).toBe("s/menú");
    expect(namesIn(index.search("寿司"))[0]).toBe("s/x");
  });
});

describe("never without an answer", () => {
  it.each(["", "   ", "the of and", "xyzzy qqqq", "😀", "\u0000\ud800", "?!"])("answers %j", (query) => {
    expect(find(query, { limit: 3 })).toHaveLength(3);
  });

  it("says by a score of 0 that no word was known, and then shows each server's first tools", () => {
    const found = household.search("xyzzy qqqq", { limit: CATALOGUE.length });
    expect(found.map(({ score }) => score)).toEqual(CATALOGUE.map(() => 0));
    expect(new Set(found.map(({ server }) => server)).size).toBe(CATALOGUE.length);
  });

  it("does not ask for all words", () => {
    expect(find("frobnicate the quux of the attachment")[0]).toBe("post/get_attachment");
  });

  it("answers nothing only when there is nothing", () => {
    expect(createToolIndex().search("file")).toEqual([]);
    expect(find("file", { server: "nobody" })).toEqual([]);
    expect(find("file", { limit: 0 })).toEqual([]);
    expect(find("file", { limit: Number.NaN })).toEqual([]);
    expect(find("file", { limit: -1 })).toEqual([]);
  });
});

describe("which and how many", () => {
  it("keeps to one server when told to", () => {
    const found = find("draw a chart of the issues", { server: "tracker" });
    expect(found.length).toBeGreaterThan(0);
    expect(found.every((name) => name.startsWith("tracker/"))).toBe(true);
    expect(find("xyzzy", { server: "tianqi" })).toEqual(["tianqi/forecast", "tianqi/air"]);
  });

  it("gives ten unless told otherwise, and never more than there are", () => {
    expect(find("page file issue event message chart")).toHaveLength(10);
    expect(find("file", { limit: 1 })).toHaveLength(1);
    expect(find("page file issue event message chart", { limit: 1e9 }).length).toBeLessThanOrEqual(30);
  });

  it("gives the best tools for each of several things asked for", () => {
    const found = find("Read the numbers in /tmp/sales.csv, draw them as a bar chart, and email the picture to Anna", {
      limit: 8,
    });
    expect(found).toEqual(expect.arrayContaining(["disk/read_file", "plots/bar_chart", "post/send_message"]));
  });

  it("does not let one server of many similar tools fill the answer to a broad request", () => {
    const crowd = Array.from({ length: 30 }, (_, at) => toolOf(`note_${at}`, "Works with notes."));
    const index = indexOf([
      [{ name: "crowd" }, crowd],
      [{ name: "one" }, [toolOf("notebook", "Works with notes in a book.")]],
      [{ name: "two" }, [toolOf("note_pins", "Works with notes on a wall.")]],
    ]);
    const servers = new Set(index.search("work with notes", { limit: 10 }).map(({ server }) => server));
    expect(servers).toEqual(new Set(["crowd", "one", "two"]));
  });
});

describe("servers that come, change and go", () => {
  it("finds what a server has now and not what it had", () => {
    const index = indexOf(CATALOGUE);
    index.set({ name: "disk" }, [toolOf("burn_disc", "Burn a disc.")]);
    expect(namesIn(index.search("burn"))[0]).toBe("disk/burn_disc");
    expect(namesIn(index.search("read_file", { limit: 50 }))).not.toContain("disk/read_file");
    index.remove("disk");
    expect(namesIn(index.search("burn_disc", { limit: 50 }))).not.toContain("disk/burn_disc");
    index.remove("disk");
  });

  it("takes no tools for none", () => {
    const index = indexOf([[{ name: "empty" }, []]]);
    expect(index.search("anything")).toEqual([]);
  });

  it("answers the same whatever came before: other servers, another order, the same server twice", () => {
    const straight = indexOf(CATALOGUE);
    const wound = indexOf([
      [{ name: "gone" }, [toolOf("read_file", "Reads a file."), toolOf("a", "b c d e f g")]],
      ...CATALOGUE,
    ]);
    wound.search("file");
    wound.remove("gone");
    for (const [server, tools] of [...CATALOGUE].reverse()) wound.set(server, tools);
    for (const query of ["read_file", "file a bug and tell Anna", "chart", "天气", "xyzzy", "screnshot of the page"]) {
      const [one, other] = [straight, wound].map((index) => index.search(query, { limit: 30 }));
      expect(namesIn(other ?? [])).toEqual(namesIn(one ?? []));
      for (const [at, { score }] of (other ?? []).entries())
        expect(score).toBeCloseTo(one?.[at]?.score ?? Number.NaN, 9);
    }
  });

  it("puts tools that fit alike in the order of their servers' names and of their lists", () => {
    const tools = [toolOf("two", "Feeds cats."), toolOf("one", "Feeds cats.")];
    const index = indexOf([
      [{ name: "z" }, tools],
      [{ name: "y" }, tools],
    ]);
    expect(namesIn(index.search("feed cats"))).toEqual(["y/two", "y/one", "z/two", "z/one"]);
  });
});

describe("what no server should be able to do", () => {
  it("takes any text for names, descriptions and schemas", () => {
    const strange = "\u202e\ud800\udfff\u0000\u{e0041}\u200b".repeat(10);
    const cyclic: Record<string, unknown> = { type: "object" };
    cyclic.properties = { constructor: cyclic, __proto__: null, "": { $ref: "#" }, x: { $ref: "#/properties/x" } };
    const hostile: ToolDefinition[] = [
      { name: strange, description: strange, inputSchema: cyclic, annotations: {}, raw: {} },
      {
        name: "",
        inputSchema: { properties: 7, required: "all", enum: {}, anyOf: [null, [], true] },
        annotations: {},
        raw: {},
      },
      toolOf("__proto__", "constructor toString hasOwnProperty", { "__proto__*": "valueOf" }),
    ];
    const index = indexOf([[{ name: "__proto__", description: strange, instructions: strange }, hostile]]);
    expect(namesIn(index.search("constructor"))).toContain("__proto__/__proto__");
    expect(index.search(strange, { limit: 3 })).toHaveLength(3);
    index.remove("__proto__");
    expect(index.search("constructor")).toEqual([]);
  });

  it("reads no more of a description than says what the tool is for", () => {
    const long = toolOf("long", `Waters plants. ${"chart ".repeat(200_000)} needle`, { x: "y ".repeat(500_000) });
    const index = indexOf([...CATALOGUE, [{ name: "garden" }, [long]]]);
    expect(namesIn(index.search("water plants"))[0]).toBe("garden/long");
    expect(index.search("needle")[0]?.score).toBe(0);
    expect(namesIn(index.search("bar chart"))[0]).toBe("plots/bar_chart");
  });

  it("keeps room for others beside a server of noise, whose tools are still found by name", () => {
    const noise = Array.from({ length: 500 }, (_, at) => {
      const words = Array.from({ length: 100 }, (_, word) => `w${at}q${word}z`);
      return toolOf(`noise_${at}`, words.join(" "));
    });
    const index = indexOf([[{ name: "noise" }, noise], ...CATALOGUE]);
    expect(namesIn(index.search("w0q1z"))[0]).toBe("noise/noise_0");
    expect(namesIn(index.search("noise_499"))[0]).toBe("noise/noise_499");
    expect(namesIn(index.search("pie chart"))[0]).toBe("plots/pie_chart");
  });

  it("finds one tool among 10,000, whose words are all different", () => {
    const index = createToolIndex();
    for (let server = 0; server < 100; server++) {
      const tools = Array.from({ length: 100 }, (_, at) =>
        toolOf(`get_${server}x${at}`, `Gets thing w${server}q${at}z of the warehouse.`, { "id*": "Which thing" }),
      );
      index.set({ name: `s${server}` }, tools);
    }
    expect(namesIn(index.search("get thing w42q7z"))[0]).toBe("s42/get_42x7");
    expect(index.search("get the thing of the warehouse", { limit: 5 })).toHaveLength(5);
    index.set({ name: "s42" }, []);
    expect(namesIn(index.search("get_42x7"))).not.toContain("s42/get_42x7");
  });
});
