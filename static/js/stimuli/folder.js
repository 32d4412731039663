// A folder becomes an archive in the browser: nobody has to pack one, and the server reads archives alone.

import { Zip, ZipPassThrough } from "../../vendor/fflate-0.8.3/esm/browser.js";

/**
 * Files that a folder field holds, each with its path from that folder on.
 * @param {Iterable<File>} files
 */
export function filesOf(files) {
  return Array.from(files, (file) => ({ path: file.webkitRelativePath || file.name, file }));
}

/**
 * Files in or below something that was dropped.
 * @param {FileSystemEntry} entry
 * @returns {Promise<{path: string, file: File}[]>}
 */
export async function filesBelow(entry) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [{ path: entry.fullPath.replace(/^\//, ""), file }];
  }
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    // A folder is read in parts; an empty one is the end.
    const part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!part.length) return found;
    for (const inner of part) found.push(...(await filesBelow(inner)));
  }
}

/**
 * An archive of these files as they are: pictures are compressed already.
 * @param {{path: string, file: File}[]} files
 * @param {string} name
 * @param {(done: number) => void} onDone  called after each file
 */
export async function packed(files, name, onDone) {
  const parts = [];
  let failed = null;
  const zip = new Zip((error, part) => {
    failed ??= error;
    parts.push(new Blob([part])); // which a browser may keep on its disk
  });
  for (const [index, { path, file }] of files.entries()) {
    const place = new ZipPassThrough(path);
    zip.add(place);
    place.push(new Uint8Array(await file.arrayBuffer()), true);
    if (failed) throw failed;
    onDone(index + 1);
  }
  zip.end();
  return new File(parts, `${name}.zip`, { type: "application/zip" });
}
