import { describe, expect, it } from "vitest";
import { proxyFor } from "./proxy.ts";

/** The proxy's address for a target, or undefined. */
function proxy(target: string, env: NodeJS.ProcessEnv): string | undefined {
  return proxyFor(new URL(target), env)?.url.href;
}

const both = { HTTP_PROXY: "http://plain:1", HTTPS_PROXY: "http://secure:2" };

describe("the proxy of an address", () => {
  it("is the one of its scheme, else the one for all, lower case before upper case", () => {
    expect(proxy("http://h/", both)).toBe("http://plain:1/");
    expect(proxy("https://h/", both)).toBe("http://secure:2/");
    expect(proxy("https://h/", { HTTP_PROXY: "http://plain:1" })).toBeUndefined();
    for (const name of ["all_proxy", "ALL_PROXY"])
      expect(proxy("http://h/", { [name]: "http://a:3" })).toBe("http://a:3/");
    expect(proxy("http://h/", { http_proxy: "http://low:1", HTTP_PROXY: "http://up:1" })).toBe("http://low:1/");
    expect(proxy("http://h/", { http_proxy: "http://low:1", all_proxy: "http://a:3" })).toBe("http://low:1/");
    expect(proxy("http://h/", { http_proxy: " ", HTTP_PROXY: "" })).toBeUndefined();
    expect(proxy("http://h/", {})).toBeUndefined();
  });

  it("may be written without a scheme, and with credentials", () => {
    expect(proxy("http://h/", { http_proxy: "proxy.corp:8080" })).toBe("http://proxy.corp:8080/");
    const found = proxyFor(new URL("http://h/"), { http_proxy: "https://me:a%40b%@p" });
    expect(found).toMatchObject({ variable: "http_proxy", authorization: `Basic ${btoa("me:a%40b%")}` });
    const decoded = proxyFor(new URL("http://h/"), { http_proxy: "http://me:a%40b@p" });
    expect(decoded?.authorization).toBe(`Basic ${btoa("me:a@b")}`);
  });

  it("[S2-59] is none for this machine", () => {
    for (const host of ["localhost", "LOCALHOST", "127.0.0.1", "127.0.0.2:80", "127.1", "[::1]", "[0:0::1]:8080"]) {
      expect(proxy(`http://${host}/`, { ...both, ALL_PROXY: "http://a:3" }), host).toBeUndefined();
    }
    for (const host of ["localhost.example", "127.0.0.1.example", "[::2]", "128.0.0.1"]) {
      expect(proxy(`http://${host}/`, both), host).toBe("http://plain:1/");
    }
  });

  it.each([
    ["*", "any.host", true],
    ["example.com", "example.com", true],
    ["example.com", "a.b.example.com", true],
    ["example.com", "notexample.com", false],
    ["EXAMPLE.com", "example.COM", true],
    [".example.com", "a.example.com", true],
    ["*.example.com", "a.example.com", true],
    ["other, example.com", "example.com", true],
    ["other example.com", "example.com", true],
    ["example.com:80", "example.com", true],
    ["example.com:8080", "example.com", false],
    ["example.com:8080", "example.com:8080", true],
    ["10.0.0.0/8", "10.1.2.3", true],
    ["10.0.0.0/8", "11.1.2.3", false],
    ["10.0.0.0/99", "10.1.2.3", false],
    ["10.0.0.0/8", "ten.example", false],
    ["10.1.2.3", "10.1.2.3", true],
    ["2.3", "10.1.2.3", false],
    ["fd00::/8", "[fd12::1]", true],
    ["fd12::1", "[fd12::1]", true],
    ["[fd12::1]:80", "[fd12::1]", true],
    ["[fd12::1]:81", "[fd12::1]", false],
    ["", "example.com", false],
  ])("is none where NO_PROXY=%s exempts %s: %s", (list, host, exempt) => {
    for (const name of ["no_proxy", "NO_PROXY"]) {
      expect(proxy(`http://${host}/`, { ...both, [name]: list })).toBe(exempt ? undefined : "http://plain:1/");
    }
  });

  it("that cannot be used is an error that does not give it away", () => {
    for (const value of ["socks5://user:hunter2@p:1080", "http://user:hunter2@:x", "ftp://hunter2"]) {
      const env = { ALL_PROXY: value };
      const failure = (() => {
        try {
          return proxy("https://h/", env);
        } catch (error) {
          return error;
        }
      })();
      expect(failure).toMatchObject({ failure: "unreachable", delivery: "not-sent" });
      expect((failure as Error).message).toMatch(/^the proxy in ALL_PROXY cannot be used \(.*NO_PROXY$/);
      expect((failure as Error).message).not.toContain("hunter2");
    }
  });
});
