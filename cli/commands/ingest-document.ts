import { addExamples } from '../command-metadata.ts';
import type { Parent } from '../commander.ts';
import * as shared from '../options.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function addIngestDocument(group: Parent, term: Terminal): void {
  const command = group
    .command('document')
    .argument('<file...>', 'files, folders and patterns; - for stdin')
    .usage('--user <id> [options] <file...>')
    .description('Ingest text, Markdown and HTML: files, folders and patterns.')
    .addOption(shared.userOption)
    .option('--title <text>', 'the title (default: taken from the document)')
    .option(
      '--mime-type <type>',
      'the MIME type, for example text/markdown (default: by file extension)',
    )
    .option('--source-url <url>', 'the URL of the document')
    .option('--page-count <number>', 'the number of pages', shared.parseWhole)
    .addOption(shared.sourceOption)
    .addOption(shared.externalIdOption)
    .addOption(shared.metadataOption)
    .option('--dry-run', 'read and validate every file without sending anything')
    .addOption(shared.idempotencyKeysOption)
    .addOption(shared.waitOption)
    .addOption(shared.timeoutOption)
    .addHelpText('after', help);
  command.action(async (files) => {
    const { ingestDocuments } = await import('../bulk/documents.ts');
    return ingestDocuments(term, files, command.optsWithGlobals());
  });
  addExamples(command, [
    'memory ingest document --user u-1 handbook.md --title "Handbook" --wait',
    'memory ingest document --user u-1 --source notes handbook.md faq.md',
    'memory ingest document --user u-1 docs/',
    "memory ingest document --user u-1 'docs/**/*.html' --dry-run",
    'cat faq.md handbook.md | memory ingest document --user u-1 -',
    'memory ingest document --user u-1 - --mime-type text/html < docs/page.html',
  ]);
}

const help = `
HTML is converted to the visible text of the page; other text is stored
unchanged. To see what would be sent: --dry-run --json. Convert other formats,
such as PDF, to text first.

A folder is searched recursively for text, Markdown, HTML, CSV, JSON, YAML, XML
and similar files, except in hidden folders and node_modules. Links to targets
outside the folder are reported and not followed. A quoted pattern such as
'**/*.md' matches text files of any type. Other files and files without text are
skipped and counted. A file that is named explicitly and cannot be read is
reported as an error, and the rest is ingested. With -, the text is read from
stdin.

The external id of a file is its path as given: ingesting the file again updates
the same memory, or changes nothing if the file is unchanged. A README.md that
is ingested from another folder under the same path would replace the first one.
To keep both, pass longer paths, or set --source or --external-id.`;
