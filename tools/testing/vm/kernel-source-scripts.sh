#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# kernel-source-scripts.sh
#
# Prints a directory that holds the kernel's checkpatch.pl with its lists of words
# and structs, and kernel-doc.  No package of headers has them: they are taken
# once from a source package (some 150 MB, of which only these are kept).

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

suite=bookworm package=linux-source-6.12
wanted=(checkpatch.pl spelling.txt const_structs.checkpatch kernel-doc)

out=$vm_cache/kernel-source-scripts/$package
if [ -d "$out" ]; then
	echo "$out"
	exit 0
fi

vm_need apt-get dpkg-deb tar xz flock
mkdir -p "${out%/*}"
exec {lock}>"${out%/*}/.lock"
flock "$lock"
if [ ! -d "$out" ]; then
	# reads the archive's list of packages, if nobody has
	"$vm_dir/root.sh" --archive-only "$suite"
	tmp=$(mktemp -d "${out%/*}/tmp.XXXXXX")
	trap 'rm -rf "$tmp"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	vm_say "fetching $package"
	(cd "$tmp" && vm_apt "$suite" apt-get -qq download "$package" >&2)
	mkdir "$tmp/scripts"
	dpkg-deb --fsys-tarfile "$tmp"/*.deb | tar -xO --wildcards '*.tar.xz' |
		tar -xJ -C "$tmp/scripts" --strip-components=2 --wildcards \
			"${wanted[@]/#/*/scripts/}"
	mv -T "$tmp/scripts" "$out"
fi
echo "$out"
