/** A page a person looks at. */
export interface Page {
  readonly url: string;
  readonly status: number;
  readonly text: string;
}

/** A browser without a picture: keeps cookies, goes where it is sent, and presses what it is told to press. */
export interface FormBrowser {
  open(url: string): Promise<Page>;
  /** Sends the only form of a page, with these fields beside the hidden ones. */
  submit(page: Page, fields?: Readonly<Record<string, string>>): Promise<Page>;
  /** Follows the link with that text. */
  click(page: Page, text: string): Promise<Page>;
}

const MAX_HOPS = 20;

/** With `unreachable` it ends at addresses that begin so, as where nobody listens. */
export function formBrowser({ unreachable }: { unreachable?: string } = {}): FormBrowser {
  /** Of one person on one computer; ports do not tell cookies apart, and paths do not matter here. */
  const cookies = new Map<string, string>();

  async function go(first: string, form?: URLSearchParams): Promise<Page> {
    let url = first;
    let body = form;
    for (let hops = 0; hops < MAX_HOPS; hops++) {
      if (unreachable !== undefined && url.startsWith(unreachable)) return { url, status: 0, text: "" };
      const response = await fetch(url, {
        method: body === undefined ? "GET" : "POST",
        redirect: "manual",
        headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; "), accept: "text/html" },
        ...(body !== undefined && { body }),
      });
      const text = await response.text();
      for (const cookie of response.headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
        if (value === "") cookies.delete(name);
        else cookies.set(name, value);
      }
      const location = response.headers.get("location");
      if (location === null) return { url, status: response.status, text };
      url = new URL(location, url).href;
      body = undefined;
    }
    throw new Error(`It is sent from page to page: ${url}`);
  }

  return {
    open: (url) => go(url),
    submit({ url, text }, fields = {}) {
      const action = /<form[^>]*\baction="([^"]*)"/.exec(text)?.[1];
      if (action === undefined) throw new Error(`There is no form on ${url}: ${text}`);
      const hidden = [...text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
      const given = Object.fromEntries(hidden.map(([, name = "", value = ""]) => [name, value]));
      return go(new URL(action, url).href, new URLSearchParams({ ...given, ...fields }));
    },
    click({ url, text }, label) {
      const links = [...text.matchAll(/<a href="([^"]*)">([^<]*)<\/a>/g)];
      const link = links.find(([, , said = ""]) => said.includes(label))?.[1];
      if (link === undefined) throw new Error(`There is no link "${label}" on ${url}: ${text}`);
      return go(new URL(link, url).href);
    },
  };
}
