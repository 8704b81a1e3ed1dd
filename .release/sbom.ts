import { join } from 'node:path';
import { $ } from 'bun';
import { readManifest, root } from './staging.ts';

type Sbom = {
  serialNumber?: string;
  metadata: { timestamp?: string; component: { name: string } };
};

/** Writes the service's packages as a CycloneDX SBOM whose bytes are reproducible. */
export async function writeSbom(dist: string): Promise<string> {
  const { name, version } = await readManifest('package.json');
  const printed = await $`npm sbom --sbom-format cyclonedx --omit dev`.cwd(root).quiet();
  const sbom = JSON.parse(printed.stdout.toString()) as Sbom;
  delete sbom.serialNumber;
  delete sbom.metadata.timestamp;
  // npm uses the folder name as the component name.
  sbom.metadata.component.name = String(name);
  const file = join(dist, `${name}-${version}.cdx.json`);
  await Bun.write(file, `${JSON.stringify(sbom, null, 2)}\n`);
  return file;
}
