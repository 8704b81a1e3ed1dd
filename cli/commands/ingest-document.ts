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
    .option('--mime-type <type>', 'for example text/markdown (default: by file extension)')
    .option('--source-url <url>', 'the address it comes from')
    .option('--page-count <number>', 'its number of pages', shared.parseWhole)
    .addOption(shared.sourceOption)
    .addOption(shared.externalIdOption)
    .addOption(shared.metadataOption)
    .option('--dry-run', 'read and check every file, send nothing')
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
HTML becomes the text that one reads on the page; everything else is kept as
it is. To see what would be sent: --dry-run --json. A PDF, say, has to be
turned into text first.

A folder is searched for text, Markdown, HTML, CSV, JSON, YAML, XML and the
like, with all folders in it, but for hidden ones and node_modules. A link that
leads out of the folder is named and not followed. A pattern
in quotes, as '**/*.md', finds files of any kind that are text. What is not
one, or holds no text, is skipped and counted; a file that is named and cannot
be read fails, and does not stop the rest. With - the text is read from stdin.

A file has its path, as it is given, as external id: ingesting it again
updates the same memory, and changes nothing where the file is as it was. The
README.md of another folder, called by that name there, would take its place:
--source or the path from above tells them apart, --external-id gives another.`;
