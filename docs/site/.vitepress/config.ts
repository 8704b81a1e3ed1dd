import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type HeadConfig, type Plugin } from 'vitepress';
import { linkOf, repository, root, srcExclude, targetOf } from './links.ts';

/** The pages in the order of the sidebar: title and path from the root of the repository. */
const guide = [
  ['Start', 'README.md'],
  ['HTTP API', 'docs/http-api.md'],
  ['SDK', 'docs/sdk.md'],
  ['Python', 'docs/python.md'],
  ['Adapters', 'docs/adapters.md'],
  ['Command line', 'docs/cli.md'],
  ['MCP', 'docs/mcp.md'],
  ['Search', 'docs/search.md'],
  ['Limits', 'docs/limits.md'],
  ['Examples', 'docs/examples/README.md'],
] as const;
const running = [
  ['Console', 'docs/console.md'],
  ['Operations', 'docs/operations.md'],
  ['Deployment', 'docs/deploy.md'],
  ['Backup', 'docs/backup.md'],
  ['Sizing', 'docs/sizing.md'],
  ['Monitoring', 'docs/monitoring.md'],
  ['PostgreSQL', 'docs/postgres.md'],
  ['Scaling', 'docs/scaling.md'],
  ['Security', 'docs/security.md'],
  ['Reliability', 'docs/reliability.md'],
  ['Performance', 'docs/performance.md'],
] as const;
const project = [
  ['Comparison', 'docs/comparison.md'],
  ['Why', 'docs/why.md'],
  ['Architecture', 'ARCHITECTURE.md'],
  ['Decisions', 'docs/decisions/README.md'],
  ['Contributing', 'CONTRIBUTING.md'],
  ['Changelog', 'CHANGELOG.md'],
] as const;

function items(pages: readonly (readonly [text: string, path: string])[]) {
  return pages.map(([text, path]) => ({ text, link: linkOf(path) }));
}

/** The pages are outside this folder and would load Vue from the service's node_modules. */
const vueOfThisFolder: Plugin = {
  name: 'vue-of-this-folder',
  enforce: 'pre',
  resolveId(source, importer, options) {
    const isOurs = importer === undefined || importer.startsWith(join(root, 'docs/site'));
    if (isOurs || !/^vue(?:\/|$)/.test(source)) return null;
    return this.resolve(source, fileURLToPath(import.meta.url), options);
  },
};

/** Fits a table with much text into the window, instead of scrolling it sideways. */
const wideTable = `
.wide-table .VPDoc .container, .wide-table .VPDoc .content, .wide-table .VPDoc .content-container {
  max-width: none !important;
}
.wide-table .vp-doc table { display: table; table-layout: fixed; width: 100%; font-size: 13px; }
.wide-table .vp-doc :is(th, td) { padding: 8px; vertical-align: top; overflow-wrap: anywhere; }
.wide-table .vp-doc td { line-height: 1.45; }
.wide-table .vp-doc th:first-child { width: 44px; }
.wide-table .vp-doc th:last-child { width: 104px; }`;

export default defineConfig({
  title: 'memory-service',
  description: 'A self-hosted memory for applications and agents.',
  srcDir: '../..',
  srcExclude,
  outDir: '../../dist/docs',
  cacheDir: 'node_modules/.cache',
  rewrites: (path) => path.replace(/README\.md$/, 'index.md'),
  cleanUrls: false,
  lastUpdated: false,
  // Decision record 19 replaced these records. An older benchmark report may still link to them.
  ignoreDeadLinks: [/\/decisions\/00(?:13|15|16)-/],
  // Nothing is loaded from another host.
  head: [
    ['meta', { name: 'referrer', content: 'no-referrer' }],
    ['style', {}, wideTable],
  ] satisfies HeadConfig[],
  transformPageData: ({ relativePath, frontmatter }) =>
    relativePath === 'docs/reliability.md'
      ? { frontmatter: { ...frontmatter, aside: false, pageClass: 'wide-table' } }
      : undefined,
  markdown: {
    // The pages are plain Markdown, so HTML and Vue syntax is shown as text.
    html: false,
    config(md) {
      // JSON in a figure contains characters that would become an emoji.
      md.core.ruler.disable('emoji');
      md.core.ruler.push('repository-links', ({ tokens, env }) => {
        const page = relative(root, String(env.realPath ?? env.path));
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const href = token.type === 'link_open' ? token.attrGet('href') : null;
          if (href !== null) token.attrSet('href', targetOf(href, page));
        }
      });
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    nav: [
      { text: 'Docs', link: '/docs/http-api' },
      { text: 'Operations', link: '/docs/operations' },
      { text: 'Changelog', link: '/CHANGELOG' },
    ],
    sidebar: [
      { text: 'Use', items: items(guide) },
      { text: 'Run', items: items(running) },
      { text: 'Project', items: items(project) },
    ],
    outline: [2, 3],
    socialLinks: [{ icon: 'github', link: repository }],
    editLink: { pattern: `${repository}/edit/main/:path`, text: 'Edit this page' },
  },
  vite: {
    plugins: [vueOfThisFolder],
    server: { fs: { allow: [root] } },
    publicDir: join(root, 'docs/site/public'),
  },
});
