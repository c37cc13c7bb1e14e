import { createHash } from "node:crypto";
import { defineConfig, type Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

/** The hashes of what stands in all elements of one kind, as a policy names them. */
function hashes(html: string, tag: string): string {
  return [...html.matchAll(new RegExp(`<${tag}[^>]*>([^]*?)</${tag}>`, "g"))]
    .map((found) => createHash("sha256").update(found[1] ?? "").digest("base64"))
    .map((hash) => `'sha256-${hash}'`)
    .join(" ");
}

/**
 * Writes the content security policy last, when the inlined script and style are final: nothing may
 * be loaded from anywhere, and only this very script and style may run.
 */
function policy(): Plugin {
  return {
    name: "seekwell-policy",
    enforce: "post",
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        for (const file of Object.values(bundle)) {
          if (file.type !== "asset" || !file.fileName.endsWith(".html")) continue;
          const html = String(file.source);
          const rule =
            `default-src 'none'; script-src ${hashes(html, "script")}; ` +
            `style-src ${hashes(html, "style")}; base-uri 'none'; form-action 'none'`;
          const meta = `<meta http-equiv="Content-Security-Policy" content="${rule}">`;
          file.source = html.replace('<meta name="policy">', () => meta);
        }
      },
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [viteSingleFile({ removeViteModuleLoader: true }), policy()],
  build: { target: "es2022", modulePreload: false, reportCompressedSize: false },
});
